/** Conditions on what a request has, joined by "all" or "any", in groups. Native controls: a rule may have a hundred. */
import './condition-builder.css';
import { CloseOutlined, PlusOutlined } from '@ant-design/icons';
import { Button, Segmented } from 'antd';
import { useId, useRef, useState } from 'react';
import {
  type Condition,
  type Group,
  isGroup,
  lastKey,
  needsValue,
  type Operator,
  operators,
  problemOf,
  replaced,
  takesSeveral,
} from './condition-parts.ts';
import { t, tOf } from './text.ts';
import { WithWhy } from './why.tsx';

export interface ConditionField {
  value: string;
  label: string;
  /** It has many, told apart by a name: headers, cookies, arguments. */
  isNamed?: boolean;
  /** All operators unless said. */
  operators?: readonly Operator[];
}
export interface ConditionProps {
  label: string;
  fields: readonly ConditionField[];
  value: Group;
  onChange?: (value: Group) => void;
  /** Says what is wrong also where nobody has been yet: after a save was refused. */
  isAsked?: boolean;
  why?: string;
  isReadOnly?: boolean;
  /** Groups in groups, so deep; 2 unless said: deeper nobody reads them right. */
  depthMost?: number;
}

export function ConditionBuilder({ label, why, isReadOnly = false, depthMost = 2, value, onChange, ...rest }: ConditionProps) {
  const box = useRef<HTMLDivElement>(null);
  const isFixed = why !== undefined || isReadOnly || !onChange;
  /** The row that was pressed away takes the focus with it: it goes to what stands before. */
  const change = (next: Group, focus?: string) => {
    onChange?.(next);
    if (focus) requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(focus)?.focus());
  };
  return (
    <WithWhy why={why}>
      {reason => (
        <div ref={box} className="conditions" role="group" aria-label={label} aria-describedby={reason}>
          <GroupView
            {...rest}
            group={value}
            root={value}
            place=""
            depth={1}
            depthMost={depthMost}
            isFixed={isFixed}
            change={change}
          />
        </div>
      )}
    </WithWhy>
  );
}

interface ViewProps extends Pick<ConditionProps, 'fields' | 'isAsked'> {
  root: Group;
  /** `2.1.`: what its conditions are called by. */
  place: string;
  isFixed: boolean;
  change: (next: Group, focus?: string) => void;
}

function GroupView({ group, depth, depthMost, ...view }: ViewProps & { group: Group; depth: number; depthMost: number }) {
  const { root, place, isFixed, change, fields } = view;
  const put = (next: Group, focus?: string) => change(next.key === root.key ? next : replaced(root, next.key, next), focus);
  function add(asGroup: boolean) {
    const key = lastKey(root) + 1;
    const condition: Condition = {
      key: asGroup ? key + 1 : key,
      field: fields[0]!.value,
      operator: operatorsOf(fields[0]!)[0]!,
      value: '',
    };
    put(
      { ...group, of: [...group.of, asGroup ? { key, isAll: !group.isAll, of: [condition] } : condition] },
      `[data-condition="${condition.key}"] select`,
    );
  }
  const without = (key: number) => {
    const at = group.of.findIndex(one => one.key === key);
    const before = group.of[at - 1] ?? group.of[at + 1];
    change(
      replaced(root, key, undefined),
      before ? `[data-condition="${before.key}"] :is(select, button)` : `[data-add="${group.key}"]`,
    );
  };
  return (
    <div className="condition-group" data-condition={group.key}>
      {group.of.length > 1 && (
        <Segmented
          aria-label={t('condition.how')}
          disabled={isFixed}
          value={group.isAll ? 'all' : 'any'}
          options={(['all', 'any'] as const).map(value => ({ value, label: t(`condition.${value}`) }))}
          onChange={value => put({ ...group, isAll: value === 'all' })}
        />
      )}
      {group.of.length === 0 && <p className="ink-3">{t('condition.none')}</p>}
      {group.of.map((one, index) => {
        const name = `${place}${index + 1}`;
        if (!isGroup(one)) return <Row key={one.key} {...view} place={name} condition={one} onRemove={() => without(one.key)} />;
        return (
          <div key={one.key} className="condition-inner" role="group" aria-label={t('condition.group', { place: name })}>
            <GroupView {...view} group={one} place={`${name}.`} depth={depth + 1} depthMost={depthMost} />
            {!isFixed && (
              <Button
                type="text"
                icon={<CloseOutlined />}
                aria-label={t('condition.removeGroup', { place: name })}
                title={t('condition.removeGroup', { place: name })}
                onClick={() => without(one.key)}
              />
            )}
          </div>
        );
      })}
      {!isFixed && (
        <div className="condition-add">
          <Button data-add={group.key} icon={<PlusOutlined />} onClick={() => add(false)}>
            {t('condition.add')}
          </Button>
          {depth < depthMost && <Button onClick={() => add(true)}>{t('condition.addGroup')}</Button>}
        </div>
      )}
    </div>
  );
}

const operatorsOf = (field: ConditionField | undefined): readonly Operator[] => field?.operators ?? operators;

function Row({
  condition,
  onRemove,
  root,
  fields,
  place,
  isFixed,
  isAsked,
  change,
}: ViewProps & { condition: Condition; onRemove: () => void }) {
  const [isLeft, leave] = useState(false);
  const told = useId();
  const { key, operator, value } = condition;
  const field = fields.find(one => one.value === condition.field);
  const problem = isAsked || isLeft ? problemOf(condition, field?.isNamed) : undefined;
  const put = (part: Partial<Condition>) => change(replaced(root, key, { ...condition, ...part }));
  return (
    <div className="condition" data-condition={key}>
      <div className="condition-row">
        <select
          aria-label={t('condition.field', { place })}
          disabled={isFixed}
          value={condition.field}
          onChange={event => {
            const next = fields.find(one => one.value === event.target.value);
            const may = operatorsOf(next);
            put({ field: event.target.value, operator: may.includes(operator) ? operator : may[0]! });
          }}
        >
          {fields.map(one => (
            <option key={one.value} value={one.value}>
              {one.label}
            </option>
          ))}
        </select>
        {field?.isNamed && (
          <input
            className="mono"
            aria-label={t('condition.header', { place })}
            aria-invalid={problem === 'noName'}
            aria-describedby={problem && told}
            onBlur={() => leave(true)}
            readOnly={isFixed}
            value={condition.name ?? ''}
            spellCheck={false}
            onChange={event => put({ name: event.target.value })}
          />
        )}
        <select
          aria-label={t('condition.operator', { place })}
          disabled={isFixed}
          value={operator}
          onChange={event => put({ operator: operators.find(one => one === event.target.value)! })}
        >
          {operatorsOf(field).map(one => (
            <option key={one} value={one}>
              {tOf('operator', one)}
            </option>
          ))}
        </select>
        {needsValue(operator) && (
          <input
            className="mono condition-value"
            aria-label={t('condition.value', { place })}
            aria-invalid={problem === 'empty' || problem === 'pattern'}
            aria-describedby={problem && told}
            readOnly={isFixed}
            placeholder={takesSeveral(operator) ? t('condition.one') : undefined}
            spellCheck={false}
            value={value}
            onChange={event => put({ value: event.target.value })}
            onBlur={() => leave(true)}
          />
        )}
        {!isFixed && (
          <Button
            type="text"
            icon={<CloseOutlined />}
            aria-label={t('condition.remove', { place })}
            title={t('condition.remove', { place })}
            onClick={onRemove}
          />
        )}
      </div>
      {problem && (
        <small className="piece-wrong" id={told}>
          {t(`condition.${problem}`)}
        </small>
      )}
    </div>
  );
}
