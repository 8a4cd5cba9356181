/** Whose console this is, by its hostname (§1 Branding). It is remembered, so that the next visit begins with it. */
import { useSyncExternalStore } from 'react';
import { type AnswerOf, call } from './client.ts';
import { stored } from './stored.ts';

const key = 'GET /{area}/logo';
export type Brand = AnswerOf<typeof key>;
const kept = stored('brand');
/** as long as a first visit waits: without an answer it is ours */
const waitMs = 1500;
const ours: Brand = {
  title: 'Breakwater',
  copyright: '',
  logo: '',
  favicon: '',
  backgroundImage: '',
  sidebarLogo: '',
  sidebarSimpleLogo: '',
};

let brand: Brand = ours;
let isKnown = false;
const listeners = new Set<() => void>();
export const currentBrand = () => brand;
export const useBrand = () =>
  useSyncExternalStore(listener => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, currentBrand);
/** Whether nobody has put a name of their own on it. */
export const isOurs = ({ title, logo }: Brand) => title === ours.title && logo === '';

function take(next: Partial<Brand>) {
  const before = brand.title;
  brand = { ...ours, ...next };
  isKnown = true;
  // the name stands behind that of a page, or alone
  document.title = document.title.endsWith(before) ? document.title.slice(0, -before.length) + brand.title : brand.title;
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (icon && brand.favicon) {
    icon.type = 'image/png';
    icon.href = brand.favicon;
  }
  for (const listener of listeners) listener();
}

/** Asks whose it is. Resolves when that is known: at once where it was here before. */
export async function loadBrand(): Promise<void> {
  try {
    const before = kept.get();
    // an answer of that call was kept
    if (before) take(JSON.parse(before) as Partial<Brand>);
  } catch {
    /* what cannot be read is asked for */
  }
  const asked = call(key, {}, { from: 'login' }).then(
    answer => {
      kept.set(JSON.stringify(answer));
      take(answer);
    },
    () => {},
  );
  if (!isKnown) await Promise.race([asked, new Promise(resolve => setTimeout(resolve, waitMs))]);
}
