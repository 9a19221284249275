import * as Tabs from '@radix-ui/react-tabs';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { root } from '../../api/create-api.ts';
import { isObject, problemOf, unreachable } from '../../api/problem.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found, troubleOf } from '../../parts/states.tsx';
import { TextBlock } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { isFound, useOffered, type OfferedAction } from '../subscriptions/subscriptions.ts';

/** Every action that the account may subscribe to, with what its notifications hold. */
export function CatalogPage() {
  const { action: chosen } = useSearch({ from: '/catalog' });
  const [words, setWords] = useState('');
  const actions = useOffered();
  return (
    <Page title="Catalog">
      <Found of={actions} what="the actions">
        {(all) => {
          const action = all.find((each) => each.action === chosen);
          return (
            <div className="split">
              <section aria-label="Actions">
                <input
                  type="search"
                  aria-label="Search actions"
                  placeholder="Search, such as: picked up"
                  value={words}
                  onChange={(event) => setWords(event.target.value)}
                />
                <ActionList actions={all.filter((each) => isFound(each, words))} chosen={chosen} />
              </section>
              {action === undefined ? (
                <Empty>
                  <p>Choose an action to see its fields, an example and its schema.</p>
                </Empty>
              ) : (
                <ActionDetails key={action.action} action={action} />
              )}
            </div>
          );
        }}
      </Found>
    </Page>
  );
}

function ActionList({ actions, chosen }: { actions: readonly OfferedAction[]; chosen: string | undefined }) {
  return (
    <ul className="action-list">
      {actions.map(({ action, description }) => (
        <li key={action}>
          <Link to="/catalog" search={{ action }} aria-current={action === chosen ? 'true' : undefined}>
            <strong>{action}</strong>
            <br />
            <span className="small">Sent when {description}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function ActionDetails({ action: { action, description } }: { action: OfferedAction }) {
  const session = useSignedIn();
  const described = useDescribed(action);
  return (
    <section aria-labelledby="action-name">
      <div className="line">
        <h2 id="action-name">{action}</h2>
        {mayWrite(session) && (
          <Link to="/subscriptions" search={{ subscribe: action }}>
            Subscribe
          </Link>
        )}
      </div>
      <p>Sent when {description}</p>
      <Found of={described} what="its fields">
        {(found) => <Parts described={found} />}
      </Found>
    </section>
  );
}

function Parts({ described: { schema, examples } }: { described: Described }) {
  return (
    <Tabs.Root defaultValue="fields">
      <Tabs.List className="tabs" aria-label="Details of the action">
        <Tabs.Trigger value="fields">Fields</Tabs.Trigger>
        <Tabs.Trigger value="example">Example</Tabs.Trigger>
        <Tabs.Trigger value="schema">Schema</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="fields">
        {(schema.anyOf ?? [schema]).map((form) => (
          <FieldTable key={form.title ?? ''} form={form} />
        ))}
      </Tabs.Content>
      <Tabs.Content value="example">
        {examples.map(({ name, text }) => (
          <TextBlock key={name} text={text} label={`Example, ${name}`} />
        ))}
      </Tabs.Content>
      <Tabs.Content value="schema">
        <TextBlock text={JSON.stringify(schema, null, 2)} label="JSON Schema" />
      </Tabs.Content>
    </Tabs.Root>
  );
}

type Field = { path: string; type: string; isAlways: boolean; description: string };

/** The fields of a notification, nested ones too. `form`: one of the alternatives of its schema, or the whole. */
function FieldTable({ form }: { form: Schema }) {
  return (
    <>
      {form.title !== undefined && <h3>{form.title}</h3>}
      <div className="table-frame" tabIndex={0} role="region" aria-label={form.title ?? 'Fields'}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Required</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {fieldsOf(form).map(({ path, type, isAlways, description }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>{type}</td>
                <td>{isAlways ? 'yes' : 'no'}</td>
                <td>{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function fieldsOf({ properties = {}, required = [] }: Schema, before = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${before}${name}`;
    const own = {
      path,
      type: typeOf(schema),
      isAlways: required.includes(name),
      description: schema.description ?? '',
    };
    const within = schema.items === undefined ? fieldsOf(schema, `${path}.`) : fieldsOf(schema.items, `${path}[].`);
    return [own, ...within];
  });
}

function typeOf({ type, format, const: constant, enum: choices, items }: Schema): string {
  if (constant !== undefined) return JSON.stringify(constant);
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(' or ');
  const named = type === undefined ? 'anything' : [type].flat().join(' or ');
  if (items !== undefined) return `${named} of ${typeOf(items)}`;
  return format === undefined ? named : `${named} (${format})`;
}

/** A JSON Schema, as far as it is shown. */
type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  title?: string;
  anyOf?: Schema[];
};

/** The documentation of an action: the schema of its notification, and an example. */
type Described = { schema: Schema; examples: { name: string; text: string }[] };

/** Reads the schema and the examples of an action. The published document has the examples; it is large, and read once. */
function useDescribed(action: string) {
  const { interface: interfaceName } = useSignedIn();
  const name = `${interfaceName}.${action}`;
  const document = useQuery({ queryKey: ['openapi.json'], queryFn: () => read('openapi.json'), staleTime: Infinity });
  const schema = useQuery({
    queryKey: ['schema', name],
    queryFn: () => read(`schemas/${name}.notification.json`),
    staleTime: Infinity,
    enabled: action !== '',
  });
  const { error, failureReason, refetch } = troubleOf(schema) === null ? document : schema;
  const isThere = document.data !== undefined && schema.data !== undefined;
  // The meta-schema of JSON Schema describes it so.
  const data = isThere ? { schema: schema.data as Schema, examples: examplesOf(document.data, name) } : undefined;
  return { data, error, failureReason, refetch };
}

async function read(path: string): Promise<unknown> {
  const response = await fetch(new URL(path, root)).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemOf(response, undefined);
  return response.json();
}

function examplesOf(document: unknown, name: string): Described['examples'] {
  const content = at(document, 'webhooks', name, 'post', 'requestBody', 'content', 'application/json');
  const several = at(content, 'examples');
  if (isObject(several)) {
    return Object.entries(several).map(([key, each]) => ({ name: key, text: written(at(each, 'value')) }));
  }
  const one = at(content, 'example');
  return one === undefined ? [] : [{ name: 'example', text: written(one) }];
}

const written = (value: unknown): string => JSON.stringify(value, null, 2);

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((found, step) => (isObject(found) ? found[step] : undefined), value);
}
