/** The implementations of this folder; a further one is one line. */
export { licenceCalls, licenceOrderCalls, offlineFileCalls, offlineLicenceCalls, ownLicenceCalls } from './licences.ts';
