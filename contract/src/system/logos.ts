/**
 * Branding (§1, §3 Branding, §7): what the console shows of an operator, by the hostname people come to it by. Whoever has not signed in
 * sees it, so it is public. Uploaded images are drawn anew; an address of one names its content.
 */
import * as z from 'zod/mini';
import { calls } from '../kit/call.ts';
import { file, id, ids, list, nullable, obj, opt, page, record, str, text } from '../kit/schema.ts';
import * as rules from '../rules.ts';
import { HostProof } from './host-proof.ts';

/** Each image, the room it is fitted into (pixels) and how it is kept. */
export const brandImages = {
  logo: { width: 640, height: 160, as: 'png' },
  favicon: { width: 64, height: 64, as: 'png' },
  backgroundImage: { width: 1920, height: 1920, as: 'webp' },
  sidebarLogo: { width: 400, height: 96, as: 'png' },
  sidebarSimpleLogo: { width: 96, height: 96, as: 'png' },
} as const;
export type BrandImage = keyof typeof brandImages;
/** in their order */
export const brandImageNames = Object.keys(brandImages) as BrandImage[];
/** of one file; pixels of one image before it is decoded; brands of an operator */
export const brandBounds = { fileBytesMax: 4_000_000, pixelsMax: 16_000_000, countMax: 50 } as const;
export const brandImageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml'] as const;

const each = <T>(value: () => T) =>
  // the keys are those names
  Object.fromEntries(brandImageNames.map(name => [name, value()])) as unknown as Record<BrandImage, T>;
/** '': there is none */
const address = () => text(200);
export const Brand = obj({ title: text(64), copyright: text(200), ...each(address) });

export const logo = calls(
  { base: '/{area}', resource: 'logos', auth: 'public', licence: false },
  { 'GET /logo': { answer: Brand } },
);

/** Where the hostname is left out, or empty: on every hostname that has none of its own. */
const hostname = () => text(253).check(rules.zodRule(rules.brandHost));
/** A file, or '' to take the image away; left out: it stays. */
const image = () => opt(z.union([file(brandBounds.fileBytesMax, brandImageTypes), z.literal('')]));
const written = {
  hostname: opt(hostname()),
  title: opt(text(64).check(rules.zodRule(rules.oneLine))),
  copyright: opt(text(200).check(rules.zodRule(rules.oneLine))),
  ...each(image),
};
const upload = { upload: true, bodyLimit: brandBounds.fileBytesMax } as const;
export const logos = calls(
  { base: '/client/setting', areas: ['client'], resource: 'logos' },
  {
    'GET /logos': {
      query: list({ keyword: opt(str(64)) }),
      answer: page(obj({ ...record, hostname: nullable(text(253)), ...Brand.shape })),
    },
    /** what the hostname's zone says now */
    'GET /logo/proof': { query: obj({ hostname: str(253).check(rules.zodRule(rules.brandHost)) }), answer: HostProof },
    'POST /logo': { ...upload, body: obj(written), answer: obj({ ids: ids(1) }), errors: ['duplicated'] },
    'PUT /logo': { ...upload, body: obj({ id: id(), ...written }), errors: ['duplicated'] },
    'DELETE /logos': { body: obj({ ids: ids(brandBounds.countMax) }), errors: ['multiple'] },
  },
);
