/** The catalogue's texts in one language, by code: `error.101018`. The words are the contract's; this only keys them. */
import { errorCodes, type ErrorName } from '#contract/errors/codes.ts';
import { generic, secondTexts, texts } from '#contract/errors/zh_CN.ts';

export const errorTexts: Readonly<Record<string, string>> = {
  ...Object.fromEntries((Object.keys(errorCodes) as ErrorName[]).map(name => [`error.${errorCodes[name][0]}`, texts[name]])),
  'error.101013.login': secondTexts.invalidToken,
  'error.101014.login': secondTexts.tokenExpired,
  'error.unknown': generic,
};
export default errorTexts;
