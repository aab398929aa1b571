"""Requests and responses held against GitHub's OpenAPI description, more strictly than GitHub does: no unknown key passes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema

from tests.github.server.npm import OPENAPI

Json = Any
_METHODS = ("get", "post", "put", "patch", "delete")


class Description:
    """The description, with the schemas of an operation made ready when it is first used."""

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._document = document
        self._routes: dict[int, list[tuple[re.Pattern[str], str]]] = {}
        for template in document["paths"]:
            # Of `{ref}` and the like, which hold slashes, GitHub's description does not tell.
            pattern = re.sub(r"\\\{(ref|path|basehead)\\\}", "(.+)", re.escape(template))
            pattern = re.sub(r"\\\{[^}]*\\\}", "([^/]+)", pattern)
            self._routes.setdefault(template.count("{"), []).append((re.compile(pattern), template))
        self._found: dict[tuple[str, str], str | None] = {}
        self._expanded: dict[tuple[str, bool], Json] = {}
        self._validators: dict[tuple[str, str, str], jsonschema.Draft202012Validator | None] = {}

    def problems(self, method: str, path: str, query: Mapping[str, str], body: Json) -> list[str]:
        """Return what is wrong with a request; nothing if it is right."""
        template = self.template(method, path)
        if template is None:
            return [f"there is no {method} {path}"]
        operation = self._document["paths"][template][method.lower()]
        return [
            *self._query_problems(operation, query),
            *self._body_problems(method, template, operation, body),
        ]

    def answer_problems(self, method: str, path: str, status: int, body: Json) -> list[str]:
        """Return what GitHub would never answer: keys that are not described, values of another type."""
        template = self.template(method, path)
        if template is None:
            return []
        response = self._document["paths"][template][method.lower()]["responses"].get(str(status))
        if response is None:
            return [f"{method} {template} never answers {status}"]
        response = self._resolved(response)
        schema = response.get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            return []
        key = (method, template, f"answer {status}")
        if key not in self._validators:
            self._validators[key] = jsonschema.Draft202012Validator(self._expand(schema, answer=True))
        validator = self._validators[key]
        assert validator is not None
        return [_told(error) for error in validator.iter_errors(body)]

    def template(self, method: str, path: str) -> str | None:
        """Return the path of the description that a request's path belongs to; the one with fewest variables."""
        if (method, path) not in self._found:
            self._found[method, path] = self._search(method, path)
        return self._found[method, path]

    def _search(self, method: str, path: str) -> str | None:
        for _, routes in sorted(self._routes.items()):
            # `/commits/{ref}` would also fit what lies below a commit.
            for pattern, template in sorted(routes, key=lambda route: -route[1].count("/")):
                if pattern.fullmatch(path) and method.lower() in self._document["paths"][template]:
                    return template
        return None

    def _query_problems(self, operation: Json, query: Mapping[str, str]) -> list[str]:
        declared = {
            p["name"]: p for p in map(self._resolved, operation.get("parameters", ())) if p["in"] == "query"
        }
        problems = [f"unknown parameter {name}" for name in query if name not in declared]
        for name, text in query.items():
            schema = self._expand(declared[name]["schema"], answer=False) if name in declared else {}
            value: Json = (
                int(text) if schema.get("type") == "integer" and text.lstrip("-").isdigit() else text
            )
            problems += [
                f"parameter {name}: {error.message}"
                for error in jsonschema.Draft202012Validator(schema).iter_errors(value)
            ]
        return problems

    def _body_problems(self, method: str, template: str, operation: Json, body: Json) -> list[str]:
        declared = operation.get("requestBody")
        if declared is None:
            return [] if body is None else ["a body where none is taken"]
        if body is None:
            return ["no body"] if declared.get("required") else []
        key = (method, template, "")
        if key not in self._validators:
            schema = declared["content"]["application/json"]["schema"]
            self._validators[key] = jsonschema.Draft202012Validator(self._expand(schema, answer=False))
        validator = self._validators[key]
        assert validator is not None
        return [_told(error) for error in validator.iter_errors(body)]

    def _resolved(self, node: Json) -> Json:
        while "$ref" in node:
            found: Json = self._document
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
        return node

    def _expand(self, schema: Json, *, answer: bool, open_: bool = False) -> Json:
        """Return a schema of OpenAPI 3.0 as one of JSON Schema, references resolved, closed to unknown keys.

        Of an answer any part may be missing: the tests' GitHub tells what the bot reads.
        """
        if "$ref" in schema:
            key = (schema["$ref"], answer)
            if open_:
                return self._expand(self._resolved(schema), answer=answer, open_=True)
            if key not in self._expanded:
                self._expanded[key] = self._expand(self._resolved(schema), answer=answer)
            return self._expanded[key]
        found: dict[str, Json] = {}
        for name, value in schema.items():
            if name == "properties":
                found[name] = {key: self._expand(inner, answer=answer) for key, inner in value.items()}
            elif name == "items":
                found[name] = self._expand(value, answer=answer)
            elif name in ("allOf", "anyOf", "oneOf"):
                wide = open_ or name == "allOf" or "properties" in schema
                # Without `required`, several of one choice may fit.
                kept = "anyOf" if name == "oneOf" and answer else name
                found[kept] = [self._expand(inner, answer=answer, open_=wide) for inner in value]
            elif name == "required" and not answer:
                found[name] = value
            elif name in (
                "type",
                "enum",
                "maxLength",
                "maxItems",
                "minimum",
                "maximum",
                "pattern",
                "additionalProperties",
            ):
                found[name] = self._expand(value, answer=answer) if isinstance(value, dict) else value
        choices = any(name in found for name in ("allOf", "anyOf", "oneOf"))
        if "properties" in found and "additionalProperties" not in found and not open_ and not choices:
            found["additionalProperties"] = False
        if schema.get("nullable"):
            found = {"anyOf": [found, {"type": "null"}]}
        return found


def _told(error: jsonschema.ValidationError) -> str:
    where = "/".join(map(str, error.absolute_path))
    return f"{where or 'body'}: {error.message[:300]}"


@lru_cache(maxsize=1)
def description() -> Description:
    """Return GitHub's description of its REST API.

    Raises:
        UnavailableError: It cannot be downloaded.
    """
    return Description(json.loads(OPENAPI.file().read_bytes()))
