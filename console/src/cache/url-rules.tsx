/** Rules that hold for URLs of a kind, tried in the order of their priority: which URLs, in the list and in the form. */
import { cacheRuleTypes } from '#contract/limits.ts';
import { type FormField, options, type Values } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

interface Rule {
  id: number;
  type: (typeof cacheRuleTypes)[number];
  value: string;
}

/** Spread into the resource. A whole site has no value. */
export const urlRule = {
  defaultSort: 'priority',
  rowName: (rule: Rule) => rule.value || t(`cacheType.${rule.type}`),
  wrap: 'items',
  createBody: (values: Values) => ({ value: '', ...values }),
  updateBody: (values: Values, rule: Rule) => ({ value: '', ...values, id: rule.id }),
} as const;

export const urlColumns = [
  {
    name: 'value',
    kind: 'mono',
    link: 'edit',
    width: 240,
    render: (rule: Rule) => <span className="mono">{rule.value || '*'}</span>,
  },
  { name: 'type', kind: 'option', texts: 'cacheType' },
] as const;

/** `fileTypes` and `path` show what may stand there. */
export const urlFields = ({ fileTypes, path }: { fileTypes: string; path: string }): FormField[] => [
  { name: 'type', kind: 'select', ...options(cacheRuleTypes, 'cacheType'), initial: 'fileType' },
  {
    name: 'value',
    kind: 'mono',
    isOptional: false,
    help: 'fileType',
    initial: '',
    when: values => values['type'] === 'fileType',
    placeholder: fileTypes,
  },
  {
    name: 'value',
    kind: 'mono',
    isOptional: false,
    initial: '',
    when: values => values['type'] !== 'fileType' && values['type'] !== 'site',
    placeholder: path,
  },
];
