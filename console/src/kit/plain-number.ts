/** What an input method or a table leaves in a number, taken out: full width digits, blanks around it, commas between thousands. */
export function plainNumber(typed: string): string {
  const text = typed.normalize('NFKC').trim();
  return /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(text) ? text.replaceAll(',', '') : text;
}
