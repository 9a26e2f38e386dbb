"""The Python face of the SQL, and the only package that knows psycopg."""
