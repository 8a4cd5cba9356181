/** What the build changes of antd: what refuses our content security policy, and what every page would carry for nothing. */
import { join } from 'node:path';
import type { Plugin } from 'vite';

const here = import.meta.dirname;

/**
 * Two helpers of antd measure the scroll bar and lock the page through style tags without the page's nonce, which a strict content
 * security policy refuses. They get it from the tag Vite writes; a release that changes the line fails the build instead of the page.
 */
export function nonceForStyles(): Plugin {
  const lines = /if \(csp\?\.nonce\) \{\s*styleNode\.nonce = csp\?\.nonce;\s*\}/;
  return {
    name: 'nonce-for-styles',
    transform(code, id) {
      if (!/@rc-component[\\/]util[\\/]es[\\/]Dom[\\/]dynamicCSS\.js$/.test(id)) return;
      if (!lines.test(code)) throw new Error(`${id} no longer has ${lines}`);
      return code.replace(
        lines,
        `styleNode.nonce = csp?.nonce ?? document.querySelector('meta[property="csp-nonce"]')?.nonce ?? '';`,
      );
    },
  };
}

/**
 * Each field of antd asks whether it stands in a form, and takes the whole form library along for that: the one context is enough, and the
 * rest comes with the first form. A release that asks in another way fails the build instead of making every page heavier.
 */
export function contextOfForms(): Plugin {
  const whole = /(import \{ FormProvider as \w+ \} from) '@rc-component\/form';/;
  const path = join(here, '../node_modules/@rc-component/form/es/FormContext.js');
  return {
    name: 'context-of-forms',
    transform(code, id) {
      if (!/antd[\\/]es[\\/]form[\\/]context\.js$/.test(id)) return undefined;
      if (!whole.test(code)) throw new Error(`${id} no longer has ${whole}`);
      return code.replace(whole, (_, names: string) => `${names} ${JSON.stringify(path)};`);
    },
  };
}

/**
 * What antd brings to every list and form and nothing of ours uses. A release that moves one of these files fails the build instead of
 * making every page heavier.
 */
export function withoutUnused(): Plugin {
  const refuse = (what: string) => `const refuse = () => { throw new Error("${what}: left out of the build"); };`;
  const unused = [
    // our lists filter above the table: nobody ever opens a filter menu in a heading, and it brings a tree and radio buttons
    {
      file: /antd[\\/]es[\\/]table[\\/]hooks[\\/]useFilter[\\/]FilterDropdown\.js$/,
      code: 'export const flattenKeys = () => [];\nexport default () => { throw new Error("filter menus are left out of the build"); };',
    },
    // our forms are checked by the contract's own schemas (kit/form-core.tsx)
    {
      file: /@rc-component[\\/]form[\\/]es[\\/]utils[\\/]validateUtil\.js$/,
      code: 'export const validateRules = () => { throw new Error("rules of antd are left out of the build"); };',
    },
    // where the first mistake stands is sought by the form itself
    {
      file: /scroll-into-view-if-needed[\\/]dist[\\/]index\.js$/,
      code: 'export default () => { throw new Error("scrolling of antd\'s forms is left out of the build"); };',
    },
    // every browser of the target counts with BigInt
    {
      file: /@rc-component[\\/]mini-decimal[\\/]es[\\/]NumberDecimal\.js$/,
      code: 'export default class { constructor() { throw new Error("decimals without BigInt are left out of the build"); } }',
    },
    // several rows are chosen from a list, never one of them
    {
      file: /antd[\\/]es[\\/]radio[\\/]index\.js$/,
      code: 'const none = () => { throw new Error("radio buttons are left out of the build"); };\nexport { none as default, none as Button, none as Group };',
    },
    // a list that can be chosen from uses helpers of the tree, which only as a whole would be thought to do something when loaded
    { file: /@rc-component[\\/]tree[\\/]es[\\/]Tree\.js$/ },
    // and none of our lists is a tree
    {
      file: /@rc-component[\\/]tree[\\/]es[\\/]utils[\\/]conductUtil\.js$/,
      code: `${refuse('choosing a row with what is below it')}\nexport { refuse as conductCheck, refuse as isCheckDisabled };`,
    },
    // no heading of ours is stuck to the window, nor has a scroll bar of its own
    {
      file: /@rc-component[\\/]table[\\/]es[\\/]stickyScrollBar\.js$/,
      code: `${refuse('the scroll bar of a sticky list')}\nexport default refuse;`,
    },
    // how a list looks that is bordered, filtered in its heading, opened by row or summed up: ours is none of these
    { file: /antd[\\/]es[\\/]table[\\/]style[\\/](?:bordered|expand|filter|summary)\.js$/, code: 'export default () => ({});' },
    // how pages are turned in the design antd had before
    { file: /antd[\\/]es[\\/]pagination[\\/]style[\\/]bordered\.js$/, code: 'export default () => null;' },
    // pieces as antd's own documentation shows them
    {
      file: /antd[\\/]es[\\/]_util[\\/]PurePanel\.js$/,
      code: 'export const withPureRenderTheme = Component => Component;\nexport default () => () => null;',
    },
    // what antd's own rules would say
    {
      file: /@rc-component[\\/]form[\\/]es[\\/]utils[\\/]messages\.js$/,
      code: 'export const defaultValidateMessages = {};',
    },
    // what turns says nothing of how far it is
    { file: /antd[\\/]es[\\/]spin[\\/]Indicator[\\/]Progress\.js$/, code: 'export default () => null;' },
    // hangs on every field, tag and skeleton as a part of its name
    {
      file: /antd[\\/]es[\\/](?:input[\\/](?:Group|OTP[\\/]index)|tag[\\/]CheckableTag(?:Group)?|skeleton[\\/](?:Avatar|Button|Image|Input|Node))\.js$/,
      code: `${refuse('a part of a piece of antd')}\nexport default refuse;`,
    },
    // no browser of the target asks for a property by the name of its maker
    {
      file: /stylis[\\/]src[\\/]Prefixer\.js$/,
      code: `${refuse('prefixes of styles')}\nexport { refuse as prefix };`,
    },
  ].map(one => ({ ...one, isMet: false }));
  return {
    name: 'without-unused',
    transform(code, id) {
      const one = unused.find(({ file }) => file.test(id));
      if (!one) return undefined;
      one.isMet = true;
      return { code: one.code ?? code, moduleSideEffects: false };
    },
    generateBundle() {
      for (const { file, isMet } of unused) if (!isMet) throw new Error(`antd no longer has ${file}`);
    },
  };
}

/**
 * antd falls back to its English wherever no words are given: ours are, in each language, with the page (words.*.ts). So English comes for
 * those alone who read it.
 */
export function withoutDefaultWords(): Plugin {
  const name = '\0no-default-words';
  return {
    name: 'without-default-words',
    enforce: 'pre',
    resolveId: (id, importer) =>
      /(?:^|[\\/])locale[\\/]en_US(?:\.js)?$|^\.[\\/]en_US(?:\.js)?$/.test(id) &&
      importer !== undefined &&
      /antd[\\/]es[\\/](?!locale[\\/]en_US\.js$|date-picker[\\/]locale|calendar[\\/]locale|time-picker[\\/]locale)/.test(importer)
        ? name
        : undefined,
    load: id => (id === name ? 'export default {};' : undefined),
  };
}
