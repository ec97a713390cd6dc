"""The grader's own small CDK stack."""
