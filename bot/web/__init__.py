"""The server's door: webhooks in, health and metrics out, and pages for the operator. It answers; others work."""
