"""The whole product on one machine: MiniStack, the CDK app deployed to it, a first organization."""
