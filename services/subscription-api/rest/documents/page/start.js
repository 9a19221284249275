// Any document beside the page: docs?document=asyncapi.json
const asked = new URLSearchParams(location.search).get('document') ?? '';
const path = /^[\w-]+(\/[\w-]+)*\.json$/.test(asked) ? asked : 'openapi.json';
for (const link of document.querySelectorAll('nav a'))
  if (link.href === location.href.split('#')[0]) link.ariaCurrent = 'page';

const program = new URL('redoc.js', import.meta.url);
const [response, { init }] = await Promise.all([fetch(path), import(program)]);
const description = await response.json();
// The last is relative to the document: Redoc would read it as relative to the page.
const server = Array.isArray(description.servers) ? description.servers.at(-1) : undefined;
if (server !== undefined) description.servers = [{ url: new URL(server.url, response.url).href.replace(/\/$/, '') }];

// For a worker its search would make a program of a text, which the policy refuses: it does without.
delete globalThis.Worker;
init(description, { disableTelemetry: true, scrollYOffset: 44 }, document.querySelector('#page'));
