import type { Action, Interface, JsonSchema } from '@waybell/catalog/action';
import { actions, actionsOf, reports } from '@waybell/catalog/actions';
import { eventSchema, payloadSchema, notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import type { Generated } from './make-files.ts';

/** The types of the packages, by their path in the repository: what one publishes, and what one receives. */
export function packageTypes(): Record<string, Generated> {
  const names = actionNames();
  return {
    'packages/publisher/events.ts': eventTypes(),
    'packages/receiver/notifications.ts': notificationTypes(),
    'packages/receiver/action-names.ts': { madeFrom: names, make: async () => names },
  };
}

const MADE = '// Made from the catalog: `./waybell docs`. Not to be edited.';
const HEAD = `${MADE}
import type { ExactObject, ExactValue, Numeric } from '@waybell/events/exact-json';
`;

const style = { singleQuote: true, printWidth: 120, trailingComma: 'all' } as const;

type Named = { name: string; schema: JsonSchema };

function eventTypes(): Generated {
  const forms = [...actions, ...reports].map((action) => ({
    name: `${typeName(action)}Event`,
    schema: exactly(publishedSchema(action)),
  }));
  const union = forms.map(({ name }) => `  | ${name}`);
  return {
    madeFrom: forms,
    make: async () =>
      [
        HEAD,
        ...(await typesOf(forms)),
        '/** Any event that Waybell takes. */',
        `export type Event =`,
        ...union,
        ';',
      ].join('\n'),
  };
}

function notificationTypes(): Generated {
  const forms = actions.flatMap((action) => {
    const revision = revisionNotificationSchema(action);
    const of = action.interface;
    const plain = { of, name: `${typeName(action)}Notification`, schema: exactly(notificationSchema(action)) };
    if (revision === null) return [plain];
    return [plain, { of, name: `${typeName(action)}RevisionNotification`, schema: exactly(withChanges(revision)) }];
  });
  const unionOf = (interfaceName: Interface) =>
    forms.filter(({ of }) => of === interfaceName).map(({ name }) => `  | ${name}`);
  const make = async () =>
    [
      HEAD,
      '/** A field that a revision changed. */',
      'export type Change = { old_value: ExactValue; new_value: ExactValue };',
      ...(await typesOf(forms)),
      '/** Any notification of the shipper interface. */',
      'export type ShipperNotification =',
      ...unionOf('shipper'),
      ';',
      '/** Any notification of the carrier interface. */',
      'export type CarrierNotification =',
      ...unionOf('carrier'),
      ';',
    ].join('\n');
  return { madeFrom: forms, make };
}

/** The names alone, which a receiver needs at run time: the catalog stays out of the package. */
function actionNames(): string {
  const namesOf = (interfaceName: Interface) => [
    `  ${interfaceName}: [`,
    ...actionsOf(interfaceName).map(({ name }) => `    '${name}',`),
    '  ],',
  ];
  return [
    MADE,
    '/** The actions of each interface that this version knows. */',
    'export const actionNames = {',
    ...namesOf('shipper'),
    ...namesOf('carrier'),
    '} as const;',
    '',
  ].join('\n');
}

async function typesOf(forms: readonly Named[]): Promise<string[]> {
  // It takes longer to load than to find that nothing changed.
  const { compile } = await import('json-schema-to-typescript');
  const options = { bannerComment: '', additionalProperties: false, ignoreMinAndMaxItems: true, style };
  return Promise.all(
    forms.map(({ name, schema: { $schema: _dialect, ...rest } }) => compile({ ...rest, title: name }, name, options)),
  );
}

/** `shipper.order.picked_up` is `ShipperOrderPickedUp`. */
function typeName({ interface: interfaceName, name }: Action): string {
  const words = [interfaceName, ...name.split(/[._]/)];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The type that each schema without members of its own has in code, where the generator would lose numbers. */
function exactly(schema: JsonSchema): JsonSchema {
  const tsType = typeInCode(schema);
  if (tsType !== undefined) return { ...schema, tsType };
  return mapSchemas(schema, exactly);
}

function typeInCode({ type, enum: values, properties, additionalProperties, items, ...rest }: JsonSchema) {
  if (values !== undefined || properties !== undefined || additionalProperties !== undefined || items !== undefined)
    return;
  if (type === undefined) return Object.keys(rest).every((key) => key === 'description') ? 'ExactValue' : undefined;
  const types = [type].flat().filter((each) => typeof each === 'string');
  if (!types.some((each) => each in namesInCode)) return;
  return types.map((each) => namesInCode[each] ?? each).join(' | ');
}

const namesInCode: Record<string, string> = { number: 'Numeric', integer: 'number | bigint', object: 'ExactObject' };

function mapSchemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, isRecord(each) ? change(each) : each]),
      ),
    }),
    ...(isRecord(items) && { items: change(items) }),
  };
}

/** An event of this action, whose payload takes members that it does not name where the notification has them, too. */
function publishedSchema(action: Action): JsonSchema {
  const schema = eventSchema(action);
  if (action.payload.kind !== 'open' && action.payload.members !== null) return schema;
  const { properties } = schema;
  const payload = { ...payloadSchema(action), additionalProperties: { tsType: 'ExactValue' } };
  return { ...schema, properties: { ...(isRecord(properties) && properties), payload } };
}

/** A revision has the old and the new value of each field. */
function withChanges(revision: JsonSchema): JsonSchema {
  const changes = (schema: JsonSchema): JsonSchema =>
    'properties' in schema ? mapSchemas(schema, changes) : { tsType: 'Change' };
  const { properties } = revision;
  const data = isRecord(properties) && isRecord(properties['data']) ? properties['data'] : {};
  return { ...revision, properties: { ...(isRecord(properties) && properties), data: changes(data) } };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
