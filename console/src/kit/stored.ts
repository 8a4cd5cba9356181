/** Small preferences in local storage, or in that of this tab alone; a browser that forbids it has none. */
export function stored(key: string, where: 'localStorage' | 'sessionStorage' = 'localStorage') {
  return {
    get(): string | null {
      try {
        return globalThis[where].getItem(key);
      } catch {
        return null;
      }
    },
    set(value: string | null) {
      try {
        if (value === null) globalThis[where].removeItem(key);
        else globalThis[where].setItem(key, value);
      } catch {
        /* a preference that cannot be kept is not worth an error */
      }
    },
  };
}
