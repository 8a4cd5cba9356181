/** Data of where addresses are (issue 10): where they come from, who has to be named, and what they say of an address. */
import { calls } from '../kit/call.ts';
import { Credit, Place } from '../kit/place.ts';
import { arr, bool, file, int, nullable, obj, one, opt, str, text, time } from '../kit/schema.ts';
import { geoLayers, geoLimits, geoStates } from '../limits.ts';
import * as rules from '../rules.ts';

/** As a browser names it, or does not. */
export const geoFileTypes = ['application/octet-stream', 'application/vnd.maxmind.maxmind-db', ''] as const;

export const geoData = calls(
  { base: '/client/setting/dns', resource: 'dnsSetting' },
  {
    'GET /geoData': {
      answer: obj({
        state: one(geoStates),
        builtAt: nullable(time()),
        networks: int(),
        /** why what was uploaded, or what comes with the program, does not count; the owner alone is told */
        problem: nullable(text(300)),
        sources: arr(
          obj({
            layer: one(geoLayers),
            name: text(100),
            version: text(64),
            /** of the data themselves; null: they do not say */
            dataAt: nullable(time()),
            licence: text(64),
            /** to be named, with its address, wherever it is shown */
            credits: arr(Credit, 10),
            /** the owner uploaded it */
            isOwn: bool(),
          }),
          2,
        ),
        /** whoever asks may upload */
        mayChange: bool(),
      }),
    },
    'GET /geoData/place': {
      /** left out: of an address that nobody knows anything of */
      query: obj({ address: opt(str(45).check(rules.zodRule(rules.ipAddress))) }),
      answer: obj({ place: Place, credits: arr(Credit, 20) }),
    },
    /**
     * An MMDB (MaxMind DB 2.0) with `country.iso_code` or `country_code`, `subdivisions[0].iso_code`, `autonomous_system_number`: what it says
     * of places, or of ASNs, counts instead of what came before. It takes some seconds, up to minutes.
     */
    'POST /geoData': {
      owner: true,
      auth: 'session',
      upload: true,
      bodyLimit: geoLimits.bytesMax,
      body: obj({ file: file(geoLimits.bytesMax, geoFileTypes) }),
    },
    /** The program's own data count again. */
    'DELETE /geoData': { owner: true, auth: 'session' },
  },
);
