/**
 * The kit's own gallery, an application beside the console: `npm run gallery` serves it on loopback, system/browser/gallery.test.ts builds
 * it into a folder of its own. Nothing of it is in the console's bundle.
 */
import { defineConfig } from 'vite';
import { forKit, resolve } from '../vite.config.ts';

export default defineConfig({
  root: import.meta.dirname,
  plugins: forKit(),
  resolve,
  server: { host: '127.0.0.1', port: 8090 },
  build: { outDir: '../dist/gallery', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 4000 },
});
