/** Faults of ours, or of the way to receivers, that look like the receivers': no carrier is switched off for them. */
import { brokerPolicies } from './broker-policies.ts';
import { closingConnections } from './closing-connections.ts';
import { crowdedReceivers } from './crowded-receivers.ts';
import { dottedHosts } from './dotted-hosts.ts';
import { faultsOfAll } from './faults-of-all.ts';
import { forwardedAddresses } from './forwarded-addresses.ts';
import { idleClients } from './idle-clients.ts';
import { nameServers } from './name-servers.ts';
import { oddAnswers } from './odd-answers.ts';
import { oddEncodings } from './odd-encodings.ts';
import { platformVariables } from './platform-variables.ts';
import { reliedServers } from './relied-servers.ts';
import { searchLists } from './search-lists.ts';
import { severalAddresses } from './several-addresses.ts';
import { tokenClaims } from './token-claims.ts';
import { translatedAddresses } from './translated-addresses.ts';
import { wrongClocks } from './wrong-clocks.ts';

const idle = idleClients();

crowdedReceivers();
closingConnections();
oddAnswers();
dottedHosts();
oddEncodings();
severalAddresses();
faultsOfAll();
idle.look();

// From here on the API is started again.
wrongClocks();
translatedAddresses();
searchLists();
nameServers();
tokenClaims();
forwardedAddresses();
platformVariables();
reliedServers();
brokerPolicies();
