"""What happened, published to organisations: events, subscriptions and deliveries."""
