"""What every process needs: AWS clients, its environment, errors, retries, threads."""
