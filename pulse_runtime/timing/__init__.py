"""When: expressions, zones and the moments that they mean. Pure; nothing here knows a schedule or a database."""
