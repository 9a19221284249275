import * as Tabs from '@radix-ui/react-tabs';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { TextBlock } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { useOffered, type OfferedAction } from '../subscriptions/subscribing.ts';
import { useDescribed, type Described } from './catalog.ts';
import { FieldTable } from './field-table.tsx';
import { isFound } from './is-found.ts';

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
