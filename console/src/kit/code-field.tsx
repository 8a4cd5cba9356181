/** An editor is heavy: it comes when somebody goes into the field. Until then, and where it does not come, the plain area takes the text. */
import { type ReactNode, useRef, useState } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';
import { inPlace } from './later.tsx';

const CodeEditor = inPlace(async () => (await import('./code-editor.tsx')).CodeEditor);

export function CodeField({ area, ...given }: CodeEditorProps & { area: ReactNode }) {
  const [isThere, come] = useState(false);
  const [selected, setSelected] = useState<CodeEditorProps['selected']>();
  const box = useRef<HTMLDivElement>(null);
  const swap = async () => {
    await CodeEditor.warm();
    const focused = document.activeElement;
    if (focused instanceof HTMLTextAreaElement && box.current?.contains(focused))
      setSelected({ anchor: focused.selectionStart, head: focused.selectionEnd });
    come(true);
  };
  return (
    <div ref={box} onFocus={isThere ? undefined : () => void swap()}>
      {isThere ? <CodeEditor {...given} selected={selected} meanwhile={area} failed={() => area} /> : area}
    </div>
  );
}
