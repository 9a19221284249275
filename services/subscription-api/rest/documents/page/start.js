/* global SwaggerUIBundle */

/** Whether all words of a phrase are in what a reader sees of an operation. */
function isFound(phrase, texts) {
  const text = texts.join(' ').toLowerCase();
  return phrase
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const textsOf = (path, operation) => [
  path,
  operation.get('summary'),
  operation.get('description'),
  ...(operation.get('tags') ?? []),
];

/** Searches operations and webhooks; as it comes, the page searches the names of sections and paths, and no webhook. */
function search() {
  const opsFilter = (sections, phrase) =>
    sections
      .map((section) =>
        section.update('operations', (operations) =>
          operations.filter((each) => isFound(phrase, textsOf(each.get('path'), each.get('operation')))),
        ),
      )
      .filter((section) => section.get('operations').size > 0);

  const selectWebhooksOperations =
    (select, system) =>
    (state, ...others) => {
      const webhooks = select(state, ...others);
      const phrase = system.getSystem().layoutSelectors.currentFilter();
      if (typeof phrase !== 'string' || webhooks === undefined) return webhooks;
      const found = Object.entries(webhooks).filter(([name, operations]) =>
        operations.some((each) => isFound(phrase, textsOf(name, each.operation.get('operation') ?? each.operation))),
      );
      return Object.fromEntries(found);
    };

  // It would say of a document with webhooks only that it has no operations.
  const operations = (Original, system) => (props) =>
    system.specSelectors.taggedOperations().size === 0 ? null : system.React.createElement(Original, props);

  return {
    fn: { opsFilter },
    statePlugins: { spec: { wrapSelectors: { selectWebhooksOperations } } },
    wrapComponents: { operations },
  };
}

function nameSearchField() {
  const field = document.querySelector('.operation-filter-input');
  field?.setAttribute('placeholder', 'Search endpoints and webhooks, such as: picked');
  field?.setAttribute('aria-label', 'Search endpoints and webhooks');
}

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  // A search can be linked to: docs?search=picked
  filter: new URLSearchParams(location.search).get('search') ?? true,
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 2,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [search],
  onComplete: nameSearchField,
});
