/** Calls the specification does not have, each with the reason why the product needs it. */
export const beyond: Readonly<Record<string, string>> = {
  'POST /client/nodes/joinToken': 'A new machine needs a credential before it can be trusted with a name and a zone.',
  'POST /node/join': 'What a new machine calls with its join token to receive its id and its bus credentials.',
  'POST /node/credentials': 'A node renews its bus credentials with its own key, so that they can be short-lived.',
  'GET /user/systemHealth':
    'A gentle word when changes or figures of one’s own sites are late; else people take it for a fault of theirs.',
  'GET /client/systemHealth':
    'What is wrong, since when and what to do: the banner of the console reads the same checks as /readyz and doctor.',
  'GET /admin/systemHealth': 'The same for the vendor, who watches the whole installation.',
  'GET /user/site/{siteID}/applied': 'Tells which nodes serve the last change of a site: "2 of 2 nodes, 140 ms".',
  'GET /client/setting/system/originAllow': 'Tells an operator in which private ranges its customers may have origins.',
  'PUT /client/setting/system/originAllow':
    'An origin inside the house must be somebody’s decision, made where the house is known.',
  'GET /client/site/{siteID}/applied': 'Tells which nodes serve the last change of a site: "2 of 2 nodes, 140 ms".',
  'GET /user/site/{siteID}/applied/stream': 'The same as it changes, so that a screen need not ask again and again.',
  'GET /client/site/{siteID}/applied/stream': 'The same as it changes, so that a screen need not ask again and again.',
  'PATCH /client/site/{siteID}/domain/setting/originHost':
    'The Host an origin is asked for is set with a domain; without this a wrong one could only be mended by making the domain anew.',
  'PATCH /user/site/{siteID}/domain/setting/originHost':
    'The Host an origin is asked for is set with a domain; without this a wrong one could only be mended by making the domain anew.',
  'GET /client/setting/system/retention': 'What is removed by itself, and when it last was, must be seen by who answers for it.',
  'PUT /client/setting/system/retention': 'How long an audit is kept is law in one country and forbidden in another.',
};
