-- Whether a client is a listener, as `listenerClient` names it: nobody's subscriptions are its.
create or replace function waybell.is_listener(client text)
returns boolean
language sql immutable parallel safe
return position(' ' in client) > 0;

revoke all on function waybell.is_listener(text) from public;
