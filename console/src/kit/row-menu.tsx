/** What can be done with one row of a list. */
import { MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown } from 'antd';
import type { Row, RowAction } from './resource.ts';
import { t } from './text.ts';

export const isAllowed = (action: RowAction<Row>, row: Row) => (action.when?.(row) ?? true) && action.why?.(row) === undefined;

const MenuLabel = ({ text, why }: { text: string; why: string }) => (
  <>
    {text}
    <small className="menu-why">{why}</small>
  </>
);

/** Half of the window at most, above the row or below it: of a long menu on a small window the end could not be reached. */
const fits = { maxHeight: '46vh', overflowY: 'auto' } as const;

interface Props {
  row: Row;
  actions: readonly RowAction<Row>[];
  run: (action: RowAction<Row>, row: Row) => void;
}

export function RowMenu({ row, actions, run }: Props) {
  const items = actions
    .filter(action => action.when?.(row) ?? true)
    .map(action => {
      const why = action.why?.(row);
      return {
        key: action.name,
        label: why ? <MenuLabel text={t(`action.${action.name}`)} why={why} /> : t(`action.${action.name}`),
        danger: action.isDanger,
        disabled: why !== undefined,
        onClick: () => run(action, row),
      };
    });
  if (!items.length) return null;
  return (
    <Dropdown trigger={['click']} placement="bottomRight" menu={{ items, style: fits }}>
      <Button type="text" size="small" icon={<MoreOutlined />} aria-label={t('list.more')} />
    </Dropdown>
  );
}
