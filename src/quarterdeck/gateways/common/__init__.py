"""What the gateways to a running host share: tokens and their limits, calls of operations, streams and their outbox."""
