import type { Action } from '@waybell/catalog/action';
import { actingTag, asOperatorsAsk } from './acting.ts';
import { answers, headers } from './components.ts';
import { documentPath, rootPath } from './document-paths.ts';
import { jsonOf, type JsonNode } from './json-node.ts';
import { pathsOf } from './openapi.ts';
import { problem } from './problem-schema.ts';
import { componentsIn } from './schema.ts';
import { actingOperations, operatorOperations } from './tables.ts';

const description = `What \`./waybell account\`, \`token\`, \`why\`, \`failing\`, \`waiting list\`, \`subscription stop\`, \`host\`, \`audit\` and \`rejected\` do, over HTTP. It listens on a port of its own (\`ADMIN_PORT\`), which is off unless it
is set and is not for strangers. Its access tokens are opaque and have the scope \`admin\`; the first one is made by
\`./waybell token create --scope admin\`. Bodies, errors and limits are as on the interfaces for accounts. The audit log names the token for each change.`;

/** The OpenAPI 3.1 document of the operators' interface. */
export function adminDocument({ version, catalog }: { version: string; catalog: readonly Action[] }): JsonNode {
  const described = { interfaces: ['shipper', 'carrier'], catalog } as const;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybell for operators',
      version,
      summary: 'Accounts, the delivery log and the line, for operators',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'Where this document is.' }],
    tags: [
      { name: 'Overview' },
      { name: 'Accounts' },
      { name: 'Access tokens' },
      { name: 'Delivery log' },
      { name: 'Stops', description: 'What waits until an operator starts it again.' },
      { name: 'Line' },
      {
        name: actingTag,
        description:
          "What a client may ask and do about its deliveries and subscriptions, by an operator: the paths of [openapi.json](openapi.json) below the place of the client, answered as its interface does. Verification tokens are not shown. Signing secrets, credentials, listeners and triggers are the client's alone.",
      },
      { name: 'Documents', description: 'They need no token.' },
    ],
    paths: {
      ...pathsOf(operatorOperations, described),
      '/': rootPath('admin-openapi.json'),
      ...asOperatorsAsk(pathsOf(actingOperations, described)),
      '/admin-openapi.json': documentPath({
        operationId: 'getAdminOpenApi',
        summary: 'This document',
        content: jsonOf({ type: 'object', required: ['openapi'] }),
      }),
    },
    components: {
      schemas: componentsIn([problem, operatorOperations, actingOperations], catalog),
      headers,
      responses: answers,
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'An opaque access token with the scope `admin`.' },
      },
    },
  };
}
