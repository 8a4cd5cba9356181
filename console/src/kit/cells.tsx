/** Columns of a resource as columns of antd's table. */
import { Link } from '@tanstack/react-router';
import type { TableColumnType } from 'antd';
import type { ReactNode } from 'react';
import { Status, Tags } from './bits.tsx';
import type { CsvCell } from './csv.ts';
import type { ListState } from './list-state.ts';
import type { Column, ColumnKind } from './resource.ts';
import { t, tOf } from './text.ts';
import { dateTime } from './time.ts';
import { Until } from './until.tsx';
import { bytes, number } from './units.ts';

const widths: Record<ColumnKind, number> = {
  text: 160,
  mono: 180,
  number: 100,
  bytes: 110,
  time: 165,
  until: 130,
  tags: 180,
  status: 110,
  bool: 90,
  option: 120,
};

const rightAligned: readonly ColumnKind[] = ['number', 'bytes'];

export function cell<Row>(column: Column<Row>, row: Row): ReactNode {
  if (column.render) return column.render(row);
  const value = row[column.name as keyof Row] as unknown;
  if (value === null || value === undefined || value === '') return <span className="ink-3">–</span>;
  switch (column.kind) {
    case 'number':
      return number(Number(value));
    case 'bytes':
      return bytes(Number(value));
    case 'time':
      return dateTime(value as string);
    case 'until':
      return <Until time={value as string} />;
    case 'tags':
      return <Tags values={value as string[]} />;
    case 'status':
      return <Status value={String(value)} texts={column.texts} />;
    case 'option':
      return tOf(column.texts ?? column.name, String(value));
    case 'bool':
      return <Status value={value ? 'enabled' : 'disabled'} />;
    case 'mono':
      return <span className="mono">{String(value)}</span>;
    default:
      return String(value);
  }
}

/** A cell as a file has it: numbers bare, times in UTC as the API writes them, words as on screen. */
export function plain<Row>(column: Column<Row>, row: Row): CsvCell {
  const value = row[column.name as keyof Row] as unknown;
  if (value === null || value === undefined) return '';
  if (column.kind === 'status') return tOf(column.texts ?? 'state', String(value));
  if (column.kind === 'option') return tOf(column.texts ?? column.name, String(value));
  if (column.kind === 'bool') return t(value ? 'state.enabled' : 'state.disabled');
  if (Array.isArray(value)) return value.map(one => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join('; ');
  return typeof value === 'object' ? JSON.stringify(value) : (value as CsvCell);
}

/** Beside it there is room for the state on a telephone. */
const narrowNamePx = 150;
/** What is left of a telephone of 390 px between that, the box and the menu of a row. */
const narrowStatePx = 116;
/** What a row is called, and how it is; the rest is behind the edge. */
function stateFirst<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const at = columns.findIndex((column, index) => index > 0 && (column.kind === 'status' || column.name === 'status'));
  return at < 0 ? columns : [columns[0]!, columns[at]!, ...columns.slice(1, at), ...columns.slice(at + 1)];
}

export function tableColumns<Row extends { id: number }>(
  columns: readonly Column<Row>[],
  state: ListState,
  isNarrow: boolean,
  opener: (name: string, row: Row) => (() => void) | undefined,
): TableColumnType<Row>[] {
  return (isNarrow ? stateFirst(columns) : columns).map((column, index) => {
    const kind = column.kind ?? 'text';
    const width = column.width ?? widths[kind];
    const wraps = isNarrow && column.isState;
    return {
      key: column.name,
      title: tOf('field', column.label ?? column.name),
      width: isNarrow && index === 0 ? Math.min(width, narrowNamePx) : wraps ? narrowStatePx : width,
      align: rightAligned.includes(kind) ? ('end' as const) : undefined,
      className: rightAligned.includes(kind) ? 'cell-number' : undefined,
      ellipsis: !wraps && (kind === 'text' || kind === 'mono'),
      fixed: index === 0 && !isNarrow ? ('start' as const) : undefined,
      sorter: column.sort,
      showSorterTooltip: false,
      sortOrder: state.sortBy === column.name ? (state.orderBy === 'desc' ? ('descend' as const) : ('ascend' as const)) : null,
      render: (_: unknown, row: Row) => {
        const content = cell(column, row);
        if (typeof column.link === 'string') {
          const open = opener(column.link, row);
          if (!open) return content;
          return (
            <button type="button" className="link" onClick={open}>
              {content}
            </button>
          );
        }
        const to = column.link?.(row);
        return to ? <Link to={to}>{content}</Link> : content;
      },
    };
  });
}
