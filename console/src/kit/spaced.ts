/** Han and Latin stand apart by a blank (the glossary's rule), also where a parameter meets the text around it. */
import type { Parameters } from '#contract/kit/text.ts';

const place = /(\p{sc=Han})?\{(\w+)\}(?=(\p{sc=Han})?)/gu;
const latin = /[\p{sc=Latin}\d]/u;

export function spaced(text: string, params: Parameters): string {
  return text.replace(place, (whole, before: string | undefined, name: string, after: string | undefined) => {
    const value = params[name] === undefined ? '' : String(params[name]);
    const start = before && latin.test(value.at(0) ?? '') ? `${before} ` : (before ?? '');
    const end = after && latin.test(value.at(-1) ?? '') ? ' ' : '';
    return value === '' ? whole : `${start}{${name}}${end}`;
  });
}
