/** ⌘K: pages, sites, domains and nodes by name. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Modal } from 'antd';
import { useDeferredValue, useEffect, useState } from 'react';
import { area } from '../kit/area.ts';
import { useCan } from '../kit/permissions.ts';
import { currentScreens } from '../kit/screens.ts';
import { t } from '../kit/text.ts';
import { type Found, sectionsOf, sources } from './palette-sources.ts';

const shownPerSource = 6;

export function Palette({ onClose }: { onClose: () => void }) {
  const can = useCan();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const word = useDeferredValue(typed.trim().toLowerCase());
  const pages: Found[] = currentScreens().sections.flatMap(section =>
    section.screens
      .filter(screen => !screen.hidden && can(screen.call))
      .map(screen => ({ kind: t(`menu.${section.name}`), name: t(`menu.${screen.title}`), to: `/${area}/${screen.path}` })),
  );
  const rows = useQuery({
    queryKey: ['palette', word],
    enabled: word.length > 0,
    placeholderData: old => old,
    queryFn: async () => {
      const asked = [sectionsOf(word, can), ...sources[area].filter(source => can(source.call)).map(source => source.find(word))];
      const answers = await Promise.allSettled(asked);
      return answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value.slice(0, shownPerSource) : []));
    },
  });
  const found = [
    ...pages.filter(page => page.name.toLowerCase().includes(word) || page.to.split('/').at(-1)!.toLowerCase().includes(word)),
    ...(word ? (rows.data ?? []) : []),
  ];
  const at = Math.min(chosen, found.length - 1);
  useEffect(() => {
    document.querySelector('.palette [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  function go(one: Found | undefined) {
    if (!one) return;
    onClose();
    void navigate({ href: one.to });
  }
  function onKeyDown(event: React.KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((at + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(found[at]);
  }
  return (
    <Modal
      open
      className="palette"
      width={560}
      closable={false}
      footer={null}
      mask={{ blur: false }}
      style={{ top: 90 }}
      onCancel={onClose}
    >
      <input
        autoFocus
        className="palette-input"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-label={t('shell.find')}
        placeholder={t('shell.findHint')}
        value={typed}
        onChange={event => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" className="palette-list" role="listbox">
        {found.map((one, index) => (
          <li
            key={`${one.kind} ${one.to} ${one.name}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setChosen(index)}
            onClick={() => go(one)}
          >
            <span>{one.name}</span>
            <span className="ink-3">{one.kind}</span>
          </li>
        ))}
        {found.length === 0 && <li className="palette-nothing">{t('empty.noMatch')}</li>}
      </ul>
    </Modal>
  );
}
