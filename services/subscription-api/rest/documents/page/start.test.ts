import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { actions } from '@waybell/catalog/actions';
import { openApiDocument } from '../../../operations/openapi-document.ts';
import { sentExamples } from '@waybell/contracts/sent-examples';

const script = readFileSync(join(import.meta.dirname, 'start.js'), 'utf8');

type Operations = Record<string, { operation: Map<string, unknown> }[]>;
type Select = () => Operations;
type Started = {
  filter: unknown;
  plugins: (() => {
    statePlugins: { spec: { wrapSelectors: { selectWebhooksOperations: (select: Select, system: object) => Select } } };
  })[];
};

/** Starts the page, at an address with this search. */
function start(search: string): Started {
  const started: Started[] = [];
  const SwaggerUIBundle = Object.assign((options: Started) => started.push(options), { presets: {} });
  runInNewContext(script, { SwaggerUIBundle, location: { search }, URLSearchParams });
  const [options] = started;
  if (options === undefined) throw new Error('the page was not started');
  return options;
}

describe('the search of the page', () => {
  let webhooks: Operations;

  beforeAll(() => {
    const document = openApiDocument({
      catalog: actions,
      interfaces: ['shipper', 'carrier'],
      sentExamples,
      version: '1',
    });
    const entries = Object.entries(document['webhooks'] as Record<string, { post: Record<string, unknown> }>);
    webhooks = Object.fromEntries(
      entries.map(([name, { post }]) => [name, [{ operation: new Map(Object.entries(post)) }]]),
    );
  });

  function found(phrase: string | true): string[] {
    const [search] = start('').plugins;
    const { selectWebhooksOperations } = search!().statePlugins.spec.wrapSelectors;
    const system = { getSystem: () => ({ layoutSelectors: { currentFilter: () => phrase } }) };
    return Object.keys(selectWebhooksOperations(() => webhooks, system)());
  }

  test('finds webhooks by words of their names, summaries and descriptions, all of them', () => {
    expect(found('picked')).toEqual(expect.arrayContaining(['shipper.order.picked_up', 'carrier.order.picked_up']));
    expect(found('picked')).not.toContain('shipper.order.created');
    expect(found('PICKED carrier.order')).toContain('carrier.order.picked_up');
    expect(found('picked bill of lading')).toEqual(['shipper.order.picked_up_bol']);
    expect(found('unheard-of')).toEqual([]);
  });

  test('shows all where nothing is looked for', () => {
    expect(found(true)).toHaveLength(actions.length);
  });

  test('begins with what the address of the page names', () => {
    expect([start('?search=picked').filter, start('').filter]).toEqual(['picked', true]);
  });
});
