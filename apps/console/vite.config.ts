import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The API of a page under development: `eval "$(./waybell env)"` names it; for the operators' view, ADMIN_URL's value. */
const api = process.env['API_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  // Relative: a proxy may show the API, and the page with it, under a path of its own.
  base: './',
  build: {
    target: 'es2024',
    // Files, because the page's policy allows inline data for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      ...Object.fromEntries(['/v1', '/schemas', '/openapi.json'].map((path) => [path, api])),
      '/settings.json': { target: api, rewrite: (path) => `/console${path}` },
    },
  },
});
