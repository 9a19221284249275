import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

type PageFile = { type: string; bytes: Buffer };

/** The page that shows openapi.json, and all it loads, by path. */
export function pageFiles(): Record<string, PageFile> {
  const html = 'text/html; charset=utf-8';
  const script = 'text/javascript; charset=utf-8';
  const style = 'text/css; charset=utf-8';
  return {
    docs: { type: html, bytes: own('page.html') },
    'docs/start.js': { type: script, bytes: own('start.js') },
    'docs/page.css': { type: style, bytes: own('page.css') },
    'docs/source-networks.css': { type: style, bytes: own('source-networks.css') },
    'docs/swagger-ui.css': { type: style, bytes: bought(require.resolve('swagger-ui-dist/swagger-ui.css')) },
    'docs/swagger-ui-bundle.js': {
      type: script,
      bytes: bought(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    },
  };
}

const own = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'page', name));
const bought = (path: string): Buffer => readFileSync(path);
