import { proveDaily } from './prove-daily.ts';
import { brokerAway } from './rows/l03-broker-away.ts';
import { alarms } from './rows/l06-alarms.ts';

// All on one stage: to start it costs as much as some of them.
proveDaily([...brokerAway, ...alarms]);
