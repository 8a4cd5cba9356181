/** Rows as a file: those that were chosen, or all that the list holds as it is filtered, with the progress of the many. */
import { DownloadOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { paging } from '#contract/limits.ts';
import { callAny, type CallKey } from './client.ts';
import { saveFile } from './csv.ts';
import { fileName } from './file-name.ts';
import { type ListState, queryOf } from './list-state.ts';
import { notify } from './notice.ts';
import { present } from './present.tsx';
import type { Params, Resource, Row } from './resource.ts';
import type { Saving } from './save-button.tsx';
import { t } from './text.ts';
import { BrokenOff, type Input } from './transport.ts';
import { bytes, number } from './units.ts';

interface File {
  disposition: string | null;
  text: string;
}
/** All that a list finds, as the server writes it. What broke off is not saved: nobody may take a part of it for the whole. */
export async function exportList(key: CallKey, input: Input, { signal, onBytes }: Saving): Promise<void> {
  try {
    const { disposition, content } = await callAny<{ disposition: string | null; content: Blob }>(key, input, {
      isFile: 'large',
      signal,
      onBytes,
    });
    const name = fileName(disposition);
    saveFile(name, content);
    notify.success(`${t('message.exportSuccess')} ${t('export.saved', { size: bytes(content.size), name })}`);
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    notify.error(t('export.brokenOff'));
  }
}
const pageSize = paging.pageSizes.at(-1)!;

const exported = (key: CallKey, params: Params, ids: readonly number[], signal?: AbortSignal) =>
  callAny<File>(key, { ...params, body: { ids } }, { isFile: true, signal });

function keep({ disposition, text }: File, count: number) {
  const name = fileName(disposition);
  saveFile(name, new Blob([text]));
  notify.success(`${t('message.exportSuccess')} ${t('export.kept', { count: number(count), name })}`);
}

export async function exportRows(key: CallKey, params: Params, ids: readonly number[]) {
  try {
    keep(await exported(key, params, ids), ids.length);
    return true;
  } catch (error) {
    present(error, { otherwise: t('message.exportFailed') });
    return false;
  }
}

interface Props {
  resource: Resource<never, Row>;
  params: Params;
  state: ListState;
}

/** Page by page, so that no call is longer than the others: the heading stands once, and rows that moved meanwhile too. */
export function ExportButton({ resource, params, state }: Props) {
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const left = useRef<AbortController>(undefined);
  useEffect(() => () => left.current?.abort(), []);

  async function all() {
    const { signal } = (left.current = new AbortController());
    const seen = new Set<number>();
    let file: File | undefined;
    try {
      for (let page = 1, total = 1; (page - 1) * pageSize < total; page++) {
        const query = { ...resource.query, ...queryOf(state), page, pageSize };
        const rows = await callAny<{ data: Row[]; total: number }>(resource.list, { ...params, query }, { signal });
        total = rows.total;
        setProgress({ done: seen.size, total });
        const ids = rows.data.map(row => row.id).filter(id => !seen.has(id));
        if (!ids.length) continue;
        const part = await exported(resource.export!, params, ids, signal);
        for (const id of ids) seen.add(id);
        setProgress({ done: seen.size, total });
        file = file ? { ...file, text: file.text + part.text.slice(part.text.indexOf('\n') + 1) } : part;
      }
      if (file) keep(file, seen.size);
      else notify.info(t('export.nothing'));
    } catch (error) {
      if (!signal.aborted) present(error, { otherwise: t('message.exportFailed') });
    } finally {
      if (!signal.aborted) setProgress(undefined);
    }
  }
  const isFiltered = Object.keys(state.filters).length > 0;
  return (
    <Button icon={<DownloadOutlined />} loading={progress !== undefined} onClick={() => void all()}>
      {progress
        ? t('export.progress', { done: number(progress.done), total: number(progress.total) })
        : t(isFiltered ? 'export.filtered' : 'export.all')}
    </Button>
  );
}
