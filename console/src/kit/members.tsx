/** Who has something: a field that gives it to more, and below those who have it, each with a way to take it away again. */
import { Button, Select, Skeleton } from 'antd';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { selectProps, useChoices } from './choices.ts';
import { ErrorState } from './empty.tsx';
import { useHold } from './leaving.ts';
import type { Params, RemoteChoices } from './resource.ts';

export interface Member {
  id: number;
  name: string;
  /** Below the name. */
  note?: ReactNode;
  /** Why it cannot be taken away from this one. */
  why?: string;
}
interface Props {
  /** Undefined: they are on their way. */
  members: readonly Member[] | undefined;
  error?: unknown;
  onRetry?: () => void;
  choices: RemoteChoices;
  params: Params;
  /** Of the field that chooses; said as long as nothing is chosen. */
  label: string;
  give: string;
  take: string;
  /** Said where nobody has it. */
  empty: string;
  /** Said in the list of choices where there is none. */
  noChoices: string;
  /** Whether it went well. */
  onGive: (ids: number[]) => Promise<boolean>;
  onTake: (id: number) => Promise<boolean>;
}

export function Members({
  members,
  error,
  onRetry,
  choices,
  params,
  label,
  give,
  take,
  empty,
  noChoices,
  onGive,
  onTake,
}: Props) {
  const found = useChoices(choices, params);
  const [chosen, choose] = useState<number[]>([]);
  const [busy, setBusy] = useState<'give' | number>();
  const box = useRef<HTMLFormElement>(null);
  useHold(() => chosen.length > 0);

  async function during(what: 'give' | number, task: () => Promise<boolean>) {
    if (busy !== undefined) return;
    setBusy(what);
    const isDone = await task().finally(() => setBusy(undefined));
    if (!isDone) return;
    if (what === 'give') choose([]);
    // the button that was pressed goes with its row
    box.current?.querySelector<HTMLElement>('[role=combobox]')?.focus();
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (chosen.length) void during('give', () => onGive(chosen));
  }

  return (
    <>
      <form ref={box} className="inline-form" onSubmit={submit}>
        <Select
          mode="multiple"
          className="grow"
          aria-label={label}
          placeholder={label}
          {...selectProps(found, true)}
          notFoundContent={found.isPending ? <Skeleton active title={false} paragraph={{ rows: 2 }} /> : noChoices}
          value={chosen}
          onChange={choose}
        />
        <Button type="primary" htmlType="submit" loading={busy === 'give'} disabled={!chosen.length}>
          {give}
        </Button>
      </form>
      {error && !members ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : !members ? (
        <Skeleton active title={false} paragraph={{ rows: 3 }} />
      ) : members.length === 0 ? (
        <p className="ink-3 members-none">{empty}</p>
      ) : (
        <ul className="rows members">
          {members.map(member => (
            <li key={member.id}>
              <span className="grow member">
                <span>{member.name}</span>
                {member.note && <small className="ink-3">{member.note}</small>}
                {member.why && <small className="ink-3">{member.why}</small>}
              </span>
              <Button
                size="small"
                loading={busy === member.id}
                disabled={member.why !== undefined}
                aria-label={`${take}: ${member.name}`}
                onClick={() => void during(member.id, () => onTake(member.id))}
              >
                {take}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
