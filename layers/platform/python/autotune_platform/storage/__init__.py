"""DynamoDB: tables, expressions, transactions, items, cursors."""
