"""testforge as a GitHub App: what arrives, who may ask, what is read, and what is posted.

Everything here is synchronous, and knows nothing of how runs are queued (`bot/jobs/`) or of HTTP servers (`bot/web/`).
"""
