-- Nobody may do anything with Pulse by default. `pulse-runtime db grants` prints the roles that a DBA can give out.

revoke all on schema pulse from public;
revoke all on all tables in schema pulse from public;
revoke all on all sequences in schema pulse from public;
revoke all on all functions in schema pulse from public;
