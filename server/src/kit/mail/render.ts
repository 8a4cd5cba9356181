/** A mail as text and as simple HTML. Whatever people wrote stands in it as text: escaped, in one line, never as markup or a header. */
import { type Language, languageTags } from '#contract/kit/text.ts';
import { plainText } from '../text.ts';
import { type MailData, type MailTemplate, mailTexts } from './texts.ts';

export type Mail = { [T in MailTemplate]: { to: string; template: T; language: Language; data: MailData[T] } }[MailTemplate];
/** A mail without its reader. */
type Written = { [T in MailTemplate]: { template: T; language: Language; data: MailData[T] } }[MailTemplate];
export interface Rendered {
  subject: string;
  text: string;
  html: string;
}

const escaped: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const html = (value: string) => value.replaceAll(/[&<>"']/g, one => escaped[one]!);
/** A value in a line: what it holds cannot break out of it, nor name another value. */
const fill = (text: string, data: Record<string, unknown>) =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(data, name) ? plainText(String(data[name]), 2000) : whole,
  );
const subjectMax = 150;

/** `brand`: who sends it, as the operator calls itself */
export function render(mail: Written, brand: string): Rendered {
  const { language } = mail;
  if (mail.template === 'notice') {
    const { title, lines, link } = mail.data;
    return put(language, brand, { subject: title, lines, link });
  }
  const { template } = mail;
  const values: Record<string, unknown> = { ...mail.data };
  const { subject, lines, button, foot } = mailTexts[template];
  return put(language, brand, {
    subject: subject[language],
    lines: lines.map(line => fill(line[language], values)),
    code: typeof values['code'] === 'string' ? values['code'] : undefined,
    link: typeof values['link'] === 'string' ? values['link'] : undefined,
    button: button?.[language],
    foot: foot && fill(foot[language], values),
  });
}

interface Parts {
  subject: string;
  lines: readonly string[];
  code?: string | undefined;
  link?: string | undefined;
  button?: string | undefined;
  foot?: string | undefined;
}

/** http and https alone become a link: anything else would run in the reader's browser, or their phone would dial it. */
const isLink = (link: string | undefined): link is string =>
  link !== undefined && URL.canParse(link) && /^https?:$/.test(new URL(link).protocol);

function put(language: Language, brand: string, parts: Parts): Rendered {
  const { code, button, foot } = parts;
  const link = isLink(parts.link) ? new URL(parts.link).href : undefined;
  const lines = parts.lines.map(line => plainText(line, 2000));
  const subject = plainText(parts.subject, subjectMax);
  const text = [...lines, code, link, foot, `-- \n${plainText(brand)}`].filter(Boolean).join('\n\n');
  const paragraph = (line: string) => `<p style="margin:0 0 12px">${html(line)}</p>`;
  const body = [
    ...lines.map(paragraph),
    code && `<p style="margin:20px 0;font:600 28px/1.2 monospace;letter-spacing:6px">${html(code)}</p>`,
    link &&
      `<p style="margin:20px 0"><a href="${html(link)}" style="display:inline-block;padding:10px 20px;border-radius:6px;background:#1f5fd0;color:#fff;text-decoration:none">${html(button ?? link)}</a></p>`,
    foot && `<p style="margin:20px 0 0;font-size:13px;color:#5b6573;overflow-wrap:anywhere">${html(foot)}</p>`,
  ];
  return {
    subject,
    text: `${text}\n`,
    html: `<!doctype html><html lang="${languageTags[language]}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(subject)}</title></head><body style="margin:0;padding:24px;background:#f3f5f8;font:15px/1.6 system-ui,sans-serif;color:#18212f"><div style="max-width:520px;margin:0 auto;padding:28px;background:#fff;border-radius:8px"><p style="margin:0 0 20px;font-weight:600">${html(plainText(brand))}</p>${body.filter(Boolean).join('')}</div></body></html>`,
  };
}
