/** What stands in place of a secret, wherever a value would: in the audit, and in the history made from it. Free of schemas: lists show it. */
export const hidden = '***';
/** The same, of a secret that is another than before. */
export const hiddenOther = '****';
export const isHidden = (value: unknown): boolean => value === hidden || value === hiddenOther;
