/** Compression of what a site's visitors are sent (calls.md, §5 of the calls; figures in bytes). */
import * as z from 'zod/mini';
import { bool, int, some, str } from '../kit/schema.ts';
import { at, settingOf } from '../kit/setting.ts';

const mediaType = () => str(64).check(z.regex(/^[\w.+-]+\/(?:[\w.+-]+|\*)$/, 'mediaType'));
/** What is worth compressing: texts in all their forms, and pictures that are text. */
const types = [
  'text/html',
  'text/css',
  'text/plain',
  'text/xml',
  'text/javascript',
  'application/javascript',
  'application/json',
  'application/manifest+json',
  'application/xml',
  'application/rss+xml',
  'application/wasm',
  'image/svg+xml',
];

export const gzip = settingOf({
  name: 'gzip',
  fields: {
    enabled: bool(),
    /** media types that are compressed, without parameters */
    types: some(mediaType(), 50),
    /** shorter answers are sent as they are; bytes */
    minLength: int(0, 10_000_000),
    /** 1: fast, 9: small */
    level: int(1, 9),
  },
  defaults: { enabled: true, types, minLength: 1000, level: 5 },
  levels: { site: { ...at.site, path: '/gzip', canReset: true } },
  edge: 'site',
});
