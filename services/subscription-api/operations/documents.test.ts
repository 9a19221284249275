import asyncApiSpecs from '@asyncapi/specs';
import { describe, expect, test } from '@jest/globals';
import type { Action } from '@waybell/catalog/action';
import { actionKey, actions, reports } from '@waybell/catalog/actions';
import { eventSchema, notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { cloudEventSchema } from '@waybell/contracts/asyncapi-document';
import { adminDocumentFiles, clientDocumentFiles, documentFiles } from './openapi-documents.ts';
import { exampleCloudEvent, exampleEvent } from '@waybell/contracts/example-event';
import { families } from '@waybell/contracts/families';
import { openApiDocument } from './openapi-documents.ts';
import { sentExamples } from '@waybell/contracts/sent-examples';

const interfaces = ['shipper', 'carrier'] as const;
const openApi = openApiDocument({ catalog: actions, interfaces, sentExamples, version: '1.0.0' });
const files = documentFiles({ catalog: actions, interfaces, sentExamples });
const clientFiles = clientDocumentFiles(actions, interfaces);
// The documents that are served and lie in docs/, not their sources.
const asyncApi = JSON.parse(files['asyncapi.json'] ?? '{}') as Record<string, unknown>;

const ajv = addFormats.default(new Ajv2020({ allowUnionTypes: true, strictTypes: false }));

const schemaFile = (name: string): object => JSON.parse(files[`schemas/${name}.json`] ?? 'null') as object;

/** Resolves every `$ref` of a document. */
function refsOf(document: unknown): string[] {
  const refs = new Set<string>();
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') refs.add(value);
    return value;
  });
  return [...refs];
}

function resolve(document: unknown, ref: string): unknown {
  const steps = ref.slice(2).split('/');
  const names = steps.map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
}

type Linking = { operationId: string; parameters?: { name: string }[] };

describe('families', () => {
  test('hold every action of the catalog, in its order', () => {
    expect(families.flatMap((family) => family.actions)).toEqual(actions);
  });
});

async function expectValid(text: string): Promise<void> {
  const validator = new Validator({ strict: false, validateFormats: false });
  const { valid, errors } = await validator.validate(text);
  expect({ valid, errors, version: validator.version }).toEqual({ valid: true, errors: undefined, version: '3.1' });
  const document: unknown = JSON.parse(text);
  expect(refsOf(document).filter((ref) => resolve(document, ref) === undefined)).toEqual([]);
}

describe.each(
  Object.entries({ ...files, ...adminDocumentFiles(actions) }).filter(([path]) => path.endsWith('openapi.json')),
)('%s', (_path, text) => {
  test('is valid OpenAPI 3.1, and every reference in it leads somewhere', () => expectValid(text));

  test('links from answers to operations that take what they name', () => {
    const document = JSON.parse(text) as { paths: Record<string, Record<string, Linking>> };
    const parametersOf = ({ parameters, ...methods }: Record<string, Linking>) =>
      Object.values(methods).map(({ operationId, parameters: own = [] }): [string, string[]] => [
        operationId,
        [...((parameters as Linking['parameters']) ?? []), ...own].map(({ name }) => name),
      ]);
    const taken = new Map(Object.values(document.paths).flatMap(parametersOf));
    const links = [...text.matchAll(/"operationId":\s*"(\w+)",\s*"parameters":\s*\{\s*"(\w+)":\s*"\$response/g)];
    expect(links.length).toBeGreaterThan(2);
    for (const [, operation = '', parameter] of links) expect(taken.get(operation)).toContain(parameter);
  });

  test('names each operation once', () => {
    // Links have parameters by name.
    const ids = [
      ...text.matchAll(/"operationId":\s*"([^"]+)"(?!,\s*"(?:parameters|requestBody)":\s*\{\s*"\w+":\s*"\$response)/g),
    ].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids).toHaveLength(new Set(ids).size);
  });
});

describe.each(interfaces)('the document for clients of the %s interface', (name) => {
  const text = clientFiles[`openapi/${name}.json`] ?? '';
  const document: unknown = JSON.parse(text);
  const whole = openApiDocument({ catalog: actions, interfaces: [name], sentExamples, version: '1.0.0' });

  test('is valid OpenAPI 3.1, and every reference in it leads somewhere', () => expectValid(text));

  test('has every operation of the interface, with answers of one form', () => {
    const idsOf = (paths: unknown) => JSON.stringify(paths).match(/"operationId":"\w+","summary"/g);
    expect(idsOf((document as typeof whole)['paths'])).toEqual(idsOf(whole['paths']));
    expect(text).not.toContain('To a token of the');
  });

  test('has a type for each choice, none of one boolean, and nothing of what receivers are sent', () => {
    const types = new Set<unknown>();
    JSON.stringify(document, (_key, node: { enum?: unknown; const?: unknown; type?: unknown } | null) => {
      if (Array.isArray(node?.enum) || typeof node?.const === 'string') types.add(node.type);
      return node;
    });
    expect(types).toEqual(new Set(['string']));
    expect(text).not.toMatch(/notification\.(shipper|carrier)|"(webhooks|links)": \{/);
  });
});

describe('openApiDocument', () => {
  test('has a webhook for each of the 72 actions, with an example of each form', () => {
    const { webhooks } = openApi as { webhooks: Record<string, { post: { requestBody: { content: object } } }> };
    expect(Object.keys(webhooks)).toEqual(actions.map(actionKey));
    for (const action of actions) {
      const forms = Object.keys(
        resolve(webhooks[actionKey(action)], '#/post/requestBody/content/application~1json/examples') as object,
      );
      expect(forms).toEqual(action.auditFields === undefined ? ['plain'] : ['plain', 'revision']);
    }
  });

  test('tells only of the interfaces that are served', () => {
    const carrier = openApiDocument({ catalog: actions, interfaces: ['carrier'], sentExamples, version: '1.0.0' });
    expect(JSON.stringify(carrier)).not.toMatch(/"\/v1\/public|Shipper|shipper\.order\.paid"/);
    expect(Object.keys(carrier['webhooks'] as object)).toHaveLength(8);
  });

  test('marks a deprecated action', () => {
    const deprecated = { ...actions[0], deprecated: { since: '2026-01-01', sunset: '2027-01-01' } } as Action;
    const document = openApiDocument({ catalog: [deprecated], interfaces, sentExamples, version: '1.0.0' });
    expect(document).toMatchObject({ webhooks: { [actionKey(deprecated)]: { post: { deprecated: true } } } });
  });
});

describe('asyncApiDocument', () => {
  test('is valid AsyncAPI 3.0, and every reference in it leads somewhere', () => {
    const schema = asyncApiSpecs.schemasWithoutId['3.0.0'] as object;
    const validate = addFormats.default(new Ajv({ strict: false, allErrors: true })).compile(schema);
    expect({ valid: validate(asyncApi), errors: validate.errors }).toEqual({ valid: true, errors: null });
    expect(refsOf(asyncApi).filter((ref) => resolve(asyncApi, ref) === undefined)).toEqual([]);
  });

  test('has a channel for each action, each report, what is rejected and what becomes of subscriptions', () => {
    const keys = [...actions, ...reports].map(actionKey);
    expect(Object.keys(asyncApi['channels'] as object)).toEqual([
      ...keys,
      'waybell.rejected',
      'waybell.rejections',
      'waybell.operations',
    ]);
  });
});

describe('documentFiles', () => {
  test('are two documents, two schemas for each of 72 actions and one for the report, each valid JSON Schema', () => {
    const schemas = Object.entries(files).filter(([path]) => path.startsWith('schemas/'));
    expect([Object.keys(files).length, schemas.length]).toEqual([2 + 2 * 72 + 1, 2 * 72 + 1]);
    for (const [, text] of schemas) expect(ajv.validateSchema(JSON.parse(text))).toBe(true);
  });
});

describe.each([...actions, ...reports].map((action) => [actionKey(action), action] as const))('%s', (key, action) => {
  test('has an example event that its schema accepts, as a CloudEvent too', () => {
    expect(ajv.validate(eventSchema(action), exampleEvent(action))).toBe(true);
    expect(ajv.validate(schemaFile(`${key}.event`), exampleEvent(action))).toBe(true);
    expect(ajv.validate(cloudEventSchema(action), exampleCloudEvent(action))).toBe(true);
  });
});

describe.each(actions.map((action) => [actionKey(action), action] as const))('%s', (key, action) => {
  test('has examples as sent that the schemas of their forms accept', () => {
    const schemas = { plain: notificationSchema(action), revision: revisionNotificationSchema(action) };
    for (const { form, body } of sentExamples[key] ?? []) {
      expect(ajv.validate(schemas[form] ?? false, JSON.parse(body))).toBe(true);
      expect(ajv.validate(schemaFile(`${key}.notification`), JSON.parse(body))).toBe(true);
    }
    expect(sentExamples[key]).not.toHaveLength(0);
  });
});
