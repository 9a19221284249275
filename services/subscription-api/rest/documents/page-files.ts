import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

type PageFile = { type: string; bytes: Buffer };

/** Nothing from anywhere but here: the page works where there is no internet, and tells nobody of its readers. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Waybell</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <noscript>This page needs JavaScript. The same for machines: <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 2,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
`;

/** The page that shows openapi.json, and all it loads, by path. */
export function pageFiles(): Record<string, PageFile> {
  return {
    docs: { type: 'text/html; charset=utf-8', bytes: Buffer.from(HTML) },
    'docs/start.js': { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START) },
    'docs/swagger-ui.css': {
      type: 'text/css; charset=utf-8',
      bytes: readFileSync(require.resolve('swagger-ui-dist/swagger-ui.css')),
    },
    'docs/swagger-ui-bundle.js': {
      type: 'text/javascript; charset=utf-8',
      bytes: readFileSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    },
  };
}
