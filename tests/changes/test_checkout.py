"""Copies of a commit and of a working tree."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bot import changes
from bot.domain import Change
from bot.errors import InconclusiveError, RepositoryError


def files(directory: Path) -> set[str]:
    return {
        str(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def copy(tmp_path):
    return tmp_path / "copy"


def of(repo, *, base: str | None = None, head: str | None = None) -> Change:
    return Change(repo.root, base, head)


def test_a_commit_is_written_as_committed(repo, copy):
    head = repo.commit({"a.py": b"x = 1\r\n", "sub dir/\xfc.py": "y = 1\n", "run.sh": "#!/bin/sh\n"})
    (repo.root / "run.sh").chmod(0o755)
    head = repo.commit()
    repo.write({"a.py": "changed\n", "untracked.py": ""})
    changes.checkout(of(repo, head=head), copy)
    assert files(copy) == {"a.py", "sub dir/\xfc.py", "run.sh"}
    assert (copy / "a.py").read_bytes() == b"x = 1\r\n"
    assert os.access(copy / "run.sh", os.X_OK)
    assert not os.access(copy / "a.py", os.X_OK)


def test_the_base_is_written_beside_head(repo, copy):
    base = repo.commit({"a.py": "old\n"})
    head = repo.commit({"a.py": "new\n"})
    changes.checkout(of(repo, base=base, head=head), copy / "head")
    changes.checkout_base(of(repo, base=base, head=head), copy / "base")
    assert (copy / "head/a.py").read_text() == "new\n"
    assert (copy / "base/a.py").read_text() == "old\n"


def test_a_change_without_a_base_has_none_to_check_out(repo, copy):
    with pytest.raises(RepositoryError, match="starts from no commit"):
        changes.checkout_base(of(repo), copy)


def test_attributes_for_archives_and_line_ends_are_not_obeyed(repo, copy):
    attributes = "tests export-ignore\n*.py export-subst text eol=crlf\n"
    head = repo.commit({".gitattributes": attributes, "a.py": "x = '$Format:%H$'\n", "tests/t.py": "pass\n"})
    changes.checkout(of(repo, head=head), copy)
    assert (copy / "a.py").read_bytes() == b"x = '$Format:%H$'\n"
    assert (copy / "tests/t.py").exists()


def test_a_large_file_pointer_stays_a_pointer(repo, copy, tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    head = repo.commit({"data.bin": pointer})
    repo.commit({".gitattributes": "*.bin filter=lfs\n"})
    repo.git("config", "filter.lfs.smudge", f"touch {tmp_path / 'ran'}")
    changes.checkout(of(repo, head=head), copy)
    assert (copy / "data.bin").read_text() == pointer
    assert not (tmp_path / "ran").exists()


def test_a_submodule_leaves_an_empty_directory(repo, copy, tmp_path):
    inner = type(repo)(tmp_path / "inner").init()
    inner.commit({"inner.py": ""})
    repo.commit({"a.py": ""})
    repo.git("submodule", "--quiet", "add", str(inner.root), "dep")
    head = repo.commit()
    changes.checkout(of(repo, head=head), copy)
    assert (copy / "dep").is_dir()
    assert files(copy) == {".gitmodules", "a.py"}


def test_links_inside_are_kept_and_links_outside_are_not_made(repo, copy):
    repo.write({"pkg/a.py": "x = 1\n"})
    (repo.root / "pkg/b.py").symlink_to("a.py")
    (repo.root / "up.py").symlink_to("pkg/../pkg/a.py")
    (repo.root / "abs").symlink_to("/etc/passwd")
    (repo.root / "pkg/out").symlink_to("../../../../etc/passwd")
    head = repo.commit()
    for name, change in (("commit", of(repo, head=head)), ("tree", of(repo))):
        changes.checkout(change, copy / name)
        assert files(copy / name) == {"pkg/a.py", "pkg/b.py", "up.py"}, name
        assert (copy / name / "pkg/b.py").read_text() == "x = 1\n"
        assert (copy / name / "pkg/b.py").is_symlink()


def test_a_hostile_tree_writes_nothing_outside(repo, copy, tmp_path):
    repo.write({"f": "evil\n"})
    blob = repo.git("hash-object", "-w", "f").strip()
    (repo.root / "l").write_text(str(tmp_path))
    link = repo.git("hash-object", "-w", "l").strip()

    def tree(*entries: tuple[str, str, str]) -> str:
        content = b"".join(
            f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries
        )
        (repo.root / "t").write_bytes(content)
        return repo.git("hash-object", "-w", "-t", "tree", "--literally", "t").strip()

    inner = tree(("100644", "planted", blob))
    top = tree(
        ("40000", "..", inner),
        ("40000", ".git", inner),
        ("120000", "d", link),
        ("40000", "d", inner),
        ("100644", "ok", blob),
    )
    head = repo.git("commit-tree", top, "-m", "evil").strip()
    changes.checkout(of(repo, head=head), copy)
    assert files(copy) == {"ok", "d/planted"}
    assert not (tmp_path / "planted").exists()
    assert not (copy / "d").is_symlink()


def test_many_files_are_written(repo, copy):
    contents = {f"d{n % 7}/f{n}.py": f"x = {n}\n" * 50 for n in range(700)}
    head = repo.commit(contents)
    changes.checkout(of(repo, head=head), copy)
    assert files(copy) == set(contents)


def test_a_working_tree_is_copied_with_untracked_and_ignored_files(repo, copy):
    repo.commit({"a.py": "old\n", ".gitignore": "_version.py\n*.so\n"})
    repo.write({"a.py": "new\n", "b.py": "", "_version.py": "", "fast.so": b"\x7fELF"})
    changes.checkout(of(repo), copy)
    assert files(copy) == {"a.py", ".gitignore", "b.py", "_version.py", "fast.so"}
    assert (copy / "a.py").read_text() == "new\n"


def test_history_environments_and_caches_are_left_out(repo, copy):
    repo.commit({"a.py": ""})
    repo.write(
        {
            ".venv/pyvenv.cfg": "",
            ".venv/lib/x.py": "",
            "myenv/pyvenv.cfg": "",
            "env/kept.py": "",
            "node_modules/x.py": "",
            "pkg/__pycache__/a.pyc": "",
            ".tox/x.py": "",
            "cache/CACHEDIR.TAG": "",
            "cache/x.py": "",
        }
    )
    (repo.root / "linked").symlink_to(".venv")
    changes.checkout(of(repo), copy)
    assert files(copy) == {"a.py", "env/kept.py"}


def test_the_git_file_of_a_linked_worktree_is_left_out(repo, copy, tmp_path):
    repo.commit({"a.py": ""})
    repo.git("worktree", "add", "-q", str(tmp_path / "second"))
    changes.checkout(Change(tmp_path / "second", None, None), copy)
    assert files(copy) == {"a.py"}


def test_large_and_special_files_are_left_out(repo, copy):
    repo.commit({"a.py": ""})
    with (repo.root / "large.bin").open("wb") as file:
        file.truncate(51 * 1024**2)
    os.mkfifo(repo.root / "pipe")
    changes.checkout(of(repo), copy)
    assert files(copy) == {"a.py"}


def test_a_copy_inside_the_repository_does_not_copy_itself(repo):
    repo.commit({"a.py": ""})
    changes.checkout(of(repo), repo.root / "copy")
    assert files(repo.root / "copy") == {"a.py"}


def test_a_copy_shares_nothing_with_the_original(repo, copy):
    repo.commit({"a.py": "old\n"})
    changes.checkout(of(repo), copy)
    (copy / "a.py").write_text("new\n")
    assert (repo.root / "a.py").read_text() == "old\n"


def test_a_directory_with_far_too_many_files_is_told(repo, copy, monkeypatch):
    repo.commit({f"f{n}.py": "" for n in range(6)})
    monkeypatch.setattr("bot.changes.copies._MOST_FILES", 5)
    with pytest.raises(RepositoryError, match=r"holds too much .* \(6 files"):
        changes.checkout(of(repo), copy)


def test_a_place_that_cannot_be_written_is_told(repo, tmp_path):
    head = repo.commit({"a.py": ""})
    (tmp_path / "file").write_text("")
    for change in (of(repo), of(repo, head=head)):
        with pytest.raises(InconclusiveError, match=r"could not be copied .* TMPDIR") as caught:
            changes.checkout(change, tmp_path / "file")
        assert caught.value.exit_code == 3


def test_a_file_that_cannot_be_read_is_left_out(repo, copy, monkeypatch):
    repo.commit({"a.py": "", "secret.txt": "x"})
    real = shutil.copyfile

    def refuse(source: Path, target: Path) -> object:
        if source.name == "secret.txt":
            raise PermissionError(13, "Permission denied")
        return real(source, target)

    monkeypatch.setattr("bot.changes.copies.shutil.copyfile", refuse)
    changes.checkout(of(repo), copy)
    assert files(copy) == {"a.py"}


def test_what_lies_absurdly_deep_is_left_out(repo, copy):
    repo.commit({"a.py": "x = 1\n", "/".join(["d"] * 40) + "/f.py": "y = 1\n"})
    head = repo.commit({"/".join(["e"] * 400) + "/f.py": "y = 1\n"})

    changes.checkout(of(repo, head=head), copy / "commit")
    changes.checkout(of(repo), copy / "tree")

    assert files(copy / "commit") == {"a.py", "/".join(["d"] * 40) + "/f.py"}
    assert files(copy / "tree") == files(copy / "commit")
