/** "Leave and lose what you typed?", without the dialog's weight until somebody is asked. */
export const mayDiscard = async (): Promise<boolean> => (await import('./confirm.tsx')).mayDiscard();
