import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // Relative: a proxy may show the API, and the page with it, under a path of its own.
  base: './',
  build: {
    target: 'es2024',
    // As files: the page's policy allows no inline data but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
