/** Errors by their names: the catalogue alone says their numbers. */
import { errorCodes, type ErrorName } from '#contract/errors/codes.ts';
import { ApiError } from './transport.ts';

export const codeOf = (name: ErrorName): number => errorCodes[name][0];
export const isError = (error: unknown, name: ErrorName): error is ApiError =>
  error instanceof ApiError && error.code === codeOf(name);
