/** Small preferences in local storage; a browser that forbids it has none. */
export function stored(key: string) {
  return {
    get(): string | null {
      try {
        return localStorage.getItem(key);
      } catch {
        return null;
      }
    },
    set(value: string | null) {
      try {
        if (value === null) localStorage.removeItem(key);
        else localStorage.setItem(key, value);
      } catch {
        /* a preference that cannot be kept is not worth an error */
      }
    },
  };
}
