import { backPressure } from './back-pressure.ts';
import { callbacks } from './callbacks.ts';
import { deactivation } from './deactivation.ts';
import { everyAction } from './every-action.ts';
import { hangingReceiver } from './hanging-receiver.ts';
import { ownEndpoint } from './own-endpoint.ts';
import { parkedOverLimit, parking } from './parking.ts';
import { positions } from './positions.ts';

everyAction();
callbacks();
positions();
deactivation();
hangingReceiver();
ownEndpoint();
parking(1_000);
parkedOverLimit();
backPressure();
