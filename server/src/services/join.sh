# What `curl … | sh` runs on a machine that shall become a node. Before it the server puts the values of this line (join-line.ts): BW_URL,
# BW_TOKEN, BW_CA (PEM, or empty: whom every machine knows), BW_VERSION, BW_NODE, BW_PACKAGES, BW_MANIFEST, BW_SIGNATURE, BW_KEY, and for both
# archives BW_APPLICATION, BW_RUNTIME (SHA-256) and BW_MEGABYTES. All is in functions: half a script, as a broken connection leaves it, does
# nothing.

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

usage() {
  cat <<END
… | sh -s -- [OPTIONS]

  --dry-run        say what would be done, and end
  --name NAME      name of the node; default: the one given in the console, else the machine's
  --http PORTS     ports for visitors, comma-separated (80)
  --https PORTS    the same for https (443)
  --relay PORT     port for other nodes of its zone, while this one is a relay (8447)
  --listen HOSTS   addresses for visitors, comma-separated (all)
  --health PORT    loopback port of /healthz, /readyz and /metrics (9180)
  --prefix DIR     where the programs go (/opt/breakwater-node)
  --data DIR       what the node keeps (/var/lib/breakwater-node)
  --no-packages    install no Debian packages: they are there
  --no-systemd     start without systemd, as in a container: nothing starts it again
END
}

isPath() {
  case $1 in
    *[!A-Za-z0-9/._-]* | */../* | */..) return 1 ;;
    /?*) return 0 ;;
  esac
  return 1
}
isList() {
  case $1 in
    '' | *[!0-9A-Fa-f.:,]*) return 1 ;;
  esac
}
isPorts() {
  case $1 in
    '' | *[!0-9,]* | ,* | *, | *,,*) return 1 ;;
  esac
  for port in $(printf %s "$1" | tr , ' '); do
    [ ${#port} -le 5 ] && [ "$port" -ge 1 ] && [ "$port" -le 65535 ] || return 1
  done
}

# A folder that holds nothing, or a node already
isOwn() {
  case $(realpath -m "$1") in
    /*/*) ;;
    *) return 1 ;;
  esac
  [ ! -e "$1" ] || [ -z "$(ls -A "$1" 2>/dev/null)" ] || [ -e "$1/versions" ] || [ -e "$1/identity.json" ] || [ -e "$1/runtime" ] ||
    [ "$(stat -c %U "$1")" = breakwater-node ]
}

# Nobody but root puts another folder in its place. $1 and what is above it, by the names given and by those that links in it lead to
isRoots() {
  for above in "$1" "$(realpath -m "$1")"; do
    until [ "$above" = / ]; do
      case $(stat -c '%u %A' "$above" 2>/dev/null || true) in
        '' | '0 l'* | '0 '????????[!w]* | '0 '????????w[tT]) ;;
        *) return 1 ;;
      esac
      above=$(dirname "$above")
    done
  done
}

# Neither holds the other: who owns the one owns what is in it
isApart() {
  case $(realpath -m "$1")/ in "$(realpath -m "$2")"/*) return 1 ;; esac
  case $(realpath -m "$2")/ in "$(realpath -m "$1")"/*) return 1 ;; esac
}

# What the units keep from their processes (ProtectHome, PrivateTmp)
isSeen() {
  case $(realpath -m "$1")/ in
    /home/* | /root/* | /run/user/* | /tmp/* | /var/tmp/*) return 1 ;;
  esac
}

read_options() {
  prefix=/opt/breakwater-node data=/var/lib/breakwater-node
  http=80 https=443 relay=8447 health=9180 name='' listen='' packages=yes systemd=yes dry=''
  while [ $# -gt 0 ]; do
    case $1 in
      --dry-run) dry=yes ;;
      --no-packages) packages='' ;;
      --no-systemd) systemd='' ;;
      --help)
        usage
        exit 0
        ;;
      --name | --http | --https | --relay | --listen | --health | --prefix | --data)
        [ $# -ge 2 ] || fail "$1 needs a value."
        case $1 in
          --name) name=$2 ;;
          --http) http=$2 ;;
          --https) https=$2 ;;
          --relay) relay=$2 ;;
          --listen) listen=$2 ;;
          --health) health=$2 ;;
          --prefix) prefix=$2 ;;
          --data) data=$2 ;;
        esac
        shift
        ;;
      *) fail "There is no option $1; --help lists what there is." ;;
    esac
    shift
  done
  isPath "$prefix" || fail "--prefix must be an absolute path of letters, digits and /._-"
  isPath "$data" || fail "--data must be an absolute path of letters, digits and /._-"
  isOwn "$prefix" || fail "--prefix must be a folder of its own, such as /opt/breakwater-node: uninstall deletes it."
  isOwn "$data" || fail "--data must be a folder of its own, such as /var/lib/breakwater-node: uninstall deletes it."
  isApart "$prefix" "$data" || fail "--prefix and --data must be two folders, and neither below the other: what the node keeps is its user's, the programs are root's."
  [ "$(id -u)" != 0 ] || isRoots "$prefix" ||
    fail "--prefix and every folder above it must belong to root, and be nobody else's to change: root runs what lies there. $above is not so."
  if [ "$systemd" ]; then
    isSeen "$prefix" || fail "--prefix must not lie below /home, /root, /run/user, /tmp or /var/tmp: the service sees nothing of them. /opt and /srv are places for it."
    isSeen "$data" || fail "--data must not lie below /home, /root, /run/user, /tmp or /var/tmp: the service sees nothing of them. /var/lib and /srv are places for it."
  fi
  for ports in "$http" "$https" "$relay" "$health"; do isPorts "$ports" || fail "\"$ports\" are no ports: for example 80 or 80,8080."; done
  case $relay in *,*) fail '--relay is one port: for example 8447.' ;; esac
  case $health in *,*) fail '--health is one port: for example 9180.' ;; esac
  [ -z "$listen" ] || isList "$listen" || fail "--listen must be IP addresses, comma-separated."
  case $name in *[!A-Za-z0-9._-]*) fail "--name may hold letters, digits and ._- here; another can be given in the console." ;; esac
  # what the node is started with, from now on; no word of it holds a space
  words="--data $data --http $http --https $https --relay $relay --health $health${listen:+ --listen $listen}${name:+ --name $name}"
}

check_machine() {
  system=$( (. /etc/os-release && printf '%s %s' "${ID:-?}" "${VERSION_ID:-}") 2>/dev/null || true)
  case $system in
    'debian 12' | 'debian 13') ;;
    *) fail "A node runs on Debian 12 or 13; this is ${system:-an unknown system}. Nothing was changed." ;;
  esac
  [ "$(uname -m)" = x86_64 ] || fail "A node runs on 64-bit x86; this is $(uname -m). Nothing was changed."
  if [ "$(id -u)" != 0 ] && [ "$packages$systemd" ]; then
    fail 'Run this as root (… | sudo sh). Nothing was changed.'
  fi
  for tool in curl tar gzip sha256sum setpriv flock; do
    command -v "$tool" >/dev/null || fail "The program $tool is missing. Nothing was changed."
  done
  if [ "$systemd" ] && [ ! -d /run/systemd/system ]; then
    fail 'systemd does not run here, so nothing would start the node again: add --no-systemd if that is meant (… | sh -s -- --no-systemd). Nothing was changed.'
  fi
  if [ "$systemd" ] && systemctl is-active --quiet nginx.service; then
    fail 'An nginx of this machine serves already (nginx.service): a node takes its ports. Stop it first, or join another machine. Nothing was changed.'
  fi
  missing=''
  for package in $BW_PACKAGES; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
  done
  [ "$packages" ] || [ -z "$missing" ] || fail "Debian packages are missing:$missing. Leave out --no-packages. Nothing was changed."
  place=$prefix
  while [ ! -d "$place" ]; do place=$(dirname "$place"); done
  free=$(df -Pk "$place" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "$free" -ge 500 ] || fail "Only $free MB are free on the disk of $place: a node needs 500 and room for its cache. Nothing was changed."
}

# The service of systemd here runs what lies elsewhere than in $prefix: in $there
isOthers() {
  there=$(sed -n 's|^ExecStart=\(.*\)/run$|\1|p' "$unit_folder/breakwater-node.service" 2>/dev/null || true)
  [ "$there" ] && [ "$(realpath -m "$there")" != "$(realpath -m "$prefix")" ]
}

# The units have one name on a machine, and what a line takes off again is what it knows of: a second node would take those of the first
check_alone() {
  [ -z "$systemd" ] || ! isOthers ||
    fail "This machine has a node already, in $there, and systemd starts one on a machine. Add --prefix $there to make that one anew, or take it off first ($there/uninstall). Nothing was changed."
  kept=$(sed -n 's/^exec .* --data \([^ ]*\) .*/\1/p' "$prefix/run" 2>/dev/null || true)
  [ -z "$kept" ] || [ "$(realpath -m "$kept")" = "$(realpath -m "$data")" ] ||
    fail "The node in $prefix keeps its identity, cache and logs in $kept, not in $data. Add --data $kept to make it anew, or take it off first ($prefix/uninstall). Nothing was changed."
}

plan() {
  say "This machine becomes a node of $BW_URL:"
  [ -z "$missing" ] || say "  Debian packages:$missing"
  say "  programs below $prefix ($BW_MEGABYTES MB to download): Breakwater $BW_VERSION, Node $BW_NODE"
  say "  what it keeps below $data: identity, configuration, cache, logs"
  [ "$(id -u)" != 0 ] || say '  the user breakwater-node'
  [ -z "$packages$systemd" ] || say "  Debian's own nginx.service is masked: the node starts its nginx itself"
  if [ "$systemd" ]; then say '  the service breakwater-node of systemd'; else say '  started now, by no service'; fi
  say "  visitors: http $http, https $https${listen:+, at $listen}"
  say "  other nodes of its zone, while it is a relay: $relay"
}

as_node() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=breakwater-node --regid=breakwater-node --clear-groups --no-new-privs -- "$@" 9>&-
  else
    "$@" 9>&-
  fi
}

# One line at a time, and none while a new version is placed (agent/src/upgrade/place.ts). Who could read the file could hold it for ever.
lock_prefix() {
  mkdir -p "$prefix/runtime" "$prefix/versions"
  umask 077
  exec 9>>"$prefix/.join"
  umask 022
  flock -n 9 ||
    fail "Another join line is at work in $prefix, or a new version of the node is being placed: wait until that has ended, and run this line again if it is still needed. Nothing was changed."
}

tidy() {
  # once begun it is done to its end, whatever fails of it
  set +e
  trap '' INT TERM HUP
  # apt is not left alone in the midst of its work
  [ -z "$packing" ] || wait "$packing" || true
  # of ours, be it of a line that was killed
  if grep -qsxF "$policy_mark$prefix" "$policy"; then rm -f "$policy" || true; fi
  [ -z "$masked" ] || rm -f "$unit_folder/nginx.service" "$prefix/masked"
  rm -rf "$tmp" "$prefix/joining"
  for file in $programs; do rm -f "$prefix/$file.new"; done
  for unit in $units; do rm -f "$unit_folder/$unit.new"; done
  # a node that served goes on as it was
  case $stopped in
    *service*) systemctl start breakwater-node || true ;;
    *plain*)
      end_former
      start_plainly
      ;;
  esac
}

unit_folder=/etc/systemd/system
policy=/usr/sbin/policy-rc.d
policy_mark='# while a join line of Breakwater installs packages for '
install_packages() {
  # apt comes to its end, whoever closes the terminal; then what is made here is taken away (by tidy too)
  trap '' INT HUP
  trap 'exit 1' TERM
  # no package may start a service of its own
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark$prefix" >"$policy"
    trap 'rm -f "$policy"' EXIT
    chmod 755 "$policy"
  fi
  say "Installing$missing …"
  for step in update "install -y --no-install-recommends$missing"; do
    # shellcheck disable=SC2086 -- words on purpose
    DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=300 $step >"$tmp/apt" 2>&1 </dev/null ||
      fail "$(tail -n 5 "$tmp/apt")
apt-get ${step%% *} failed: the reason stands above. Mend it and run the line again."
  done
}

# $1: application or runtime; $2: its SHA-256
download() {
  # the token is nobody else's to read in a list of processes
  printf 'url = "%s"\n' "$BW_URL/join/$BW_TOKEN/$1?sha256=$2" |
    curl -fsS --retry 3 --max-time 900 ${BW_CA:+--cacert "$tmp/ca.pem"} -o "$tmp/$1" -K - ||
    fail "The $1 cannot be downloaded from $BW_URL."
  printf '%s  %s\n' "$2" "$tmp/$1" | sha256sum --check --status ||
    fail "What came from $BW_URL is not the $1 that the line speaks of: it was changed or cut. Nothing of it was run."
}

# $1: what was downloaded; $2: the folder it goes to
unpack() {
  [ ! -d "$2" ] || return 0
  rm -rf "$2.new"
  mkdir -p "$2.new"
  tar -xzf "$tmp/$1" --no-same-owner -C "$2.new"
  # a folder of that name is trusted: after a loss of power it must not be one of empty files
  sync -f "$2.new" || fail "What lies in $2.new does not get to its disk: the reason stands above. Nothing was changed."
  mv "$2.new" "$2"
}

# What an earlier line left may be damaged: found out before anything is ended for it. An empty program does nothing, and ends well.
check_programs() {
  help=$(as_node "$version/runtime/node" "$version/agent.mjs" --help 2>&1 || true)
  case $help in
    *--take*) ;;
    *) fail "The programs in $version do not work: they were damaged, as by a loss of power.$goes_on Delete them (rm -r $version $runtime) and run this line again: it fetches them anew." ;;
  esac
  # what it will be started with is for itself to judge, before a token is spent and a node ended for it; one of an earlier release cannot
  case $help in *--check*) ;; *) return 0 ;; esac
  # shellcheck disable=SC2086 -- words on purpose
  (cd / && as_node "$version/runtime/node" "$version/agent.mjs" $words --check) ||
    fail "The node would not start with these options: the reason stands above.$goes_on This line is not spent: run it again with others."
}

end_former() {
  kill "$former" 2>/dev/null || true
  for _ in $(seq 600); do
    [ -d "/proc/$former" ] || return 0
    sleep 0.1
  done
  # its nginx goes on, and whoever comes next takes it over
  kill -9 "$former" 2>/dev/null || true
}

stop_former() {
  if [ -d /run/systemd/system ] && ! isOthers && systemctl is-active --quiet breakwater-node; then
    stopped=service
    systemctl stop breakwater-node || true
  fi
  former=$(cat "$prefix/pid" 2>/dev/null || true)
  if [ "$former" ] && tr '\0' ' ' <"/proc/$former/cmdline" 2>/dev/null | grep -qF "$prefix/"; then
    stopped="$stopped plain"
    end_former
  fi
  rm -f "$prefix/pid"
  placer=$(cat "$prefix/placer.pid" 2>/dev/null || true)
  if [ "$placer" ] && tr '\0' ' ' <"/proc/$placer/cmdline" 2>/dev/null | grep -qF "$prefix/placer"; then kill "$placer" || true; fi
  rm -f "$prefix/placer.pid"
}

# Before packages are installed: theirs must not take the ports. Where no node comes of it, tidy takes it back.
mask_nginx() {
  [ -z "$packages$systemd" ] || [ -e "$unit_folder/nginx.service" ] || [ -L "$unit_folder/nginx.service" ] || {
    mkdir -p "$unit_folder"
    ln -s /dev/null "$unit_folder/nginx.service"
    : >"$prefix/masked"
  }
  [ ! -e "$prefix/masked" ] || [ -e "$prefix/current" ] || masked=yes
}

make_user() {
  [ "$(id -u)" = 0 ] || return 0
  if ! getent passwd breakwater-node >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin breakwater-node
    : >"$prefix/made-user"
  fi
}

# Beside a node that serves here: it goes on as it is until this machine has joined, whatever comes of it. What comes of it lies in
# $prefix/joining, and not in the node's own folder: whoever is its user could have put a link there, and root would follow it.
join_it() {
  rm -rf "$prefix/joining"
  mkdir -m 0700 "$prefix/joining"
  (umask 077 && printf %s "$BW_TOKEN" >"$prefix/joining/token")
  [ -z "$BW_CA" ] || cp "$tmp/ca.pem" "$prefix/joining/ca.pem"
  [ "$(id -u)" != 0 ] || chown breakwater-node: "$prefix/joining/token" "$prefix/joining"
  status=0
  set -- --data "$data" --beside "$prefix/joining" --server "$BW_URL" --bundle "$version" --join-only
  [ -z "$BW_CA" ] || set -- "$@" --ca "$prefix/joining/ca.pem"
  [ -z "$name" ] || set -- "$@" --name "$name"
  [ -z "$listen" ] || set -- "$@" --listen "$listen"
  (cd / && BREAKWATER_JOIN_TOKEN_FILE="$prefix/joining/token" as_node "$version/runtime/node" "$version/agent.mjs" "$@") || status=$?
  [ "$status" = 0 ] || fail "This machine has not joined: the reason stands above.$goes_on Make another line in the console if this one is spent."
  [ -s "$prefix/joining/identity.json" ] || fail "This machine has not joined: nothing came of it in $prefix/joining.$goes_on Make another line in the console and run it here."
}

# Everything lies ready, so that little is between the end of the former node and the start of this one: nothing is written but who it is.
take_over() {
  [ -d "$data" ] || mkdir -p -m 0711 "$data"
  [ "$(id -u)" != 0 ] || chown breakwater-node: "$data"
  ln -sfn "versions/$BW_VERSION" "$prefix/current.new"
  [ -z "$systemd" ] || install_units "$prefix/units"
  for folder in "$prefix" "$data" ${systemd:+$unit_folder}; do
    sync -f "$folder" || fail "What lies in $folder does not get to its disk: the reason stands above.$goes_on Mend it, make another line in the console and run it here."
  done
  stop_former
  (cd / && as_node "$version/runtime/node" "$version/agent.mjs" --data "$data" --take "$prefix/joining") ||
    fail "This machine has joined, and the node here could not be replaced: the reason stands above.$goes_on Make another line in the console and run it here."
  masked=''
  # until a node runs again `stopped` says so: whatever fails on the way there, or breaks it off, starts it (tidy)
  # what an earlier upgrade chose
  rm -rf "$data/upgrade"
  mv -T "$prefix/current.new" "$prefix/current"
  for file in $programs; do [ ! -e "$prefix/$file.new" ] || mv "$prefix/$file.new" "$prefix/$file"; done
  if [ "$systemd" ]; then start_units; else start_plainly; fi
}

programs='run placer uninstall document.key ca.pem'
# each as FILE.new: those of a node that is here stay until it is replaced
write_programs() {
  cat >"$prefix/run.new" <<END
#!/bin/sh
# The version that an upgrade chose, else that of the join line. One that does not come up three times is left for the one before it.
upgrade=$data/upgrade
version=\$(cat \$upgrade/current 2>/dev/null || true)
if [ -f \$upgrade/previous ]; then
  echo >>\$upgrade/starts
  [ "\$(wc -l <\$upgrade/starts)" -lt 4 ] || version=\$(cat \$upgrade/previous)
fi
case \$version in '' | .* | *[!A-Za-z0-9._-]*) version='' ;; esac
folder=$prefix/current
if [ "\$version" ] && [ -x "$prefix/versions/\$version/runtime/node" ]; then folder=$prefix/versions/\$version; fi
exec "\$folder/runtime/node" "\$folder/agent.mjs" $words
END
  cat >"$prefix/placer.new" <<END
#!/bin/sh
# Root's part of an upgrade: puts the version a node has fetched beside the one that runs, if the installation signed it.
while :; do
  [ ! -e $data/upgrade/place ] ||
    $prefix/current/runtime/node $prefix/current/agent.mjs --place $data --prefix $prefix --key $prefix/document.key || true
  [ "\${1:-}" = --wait ] || exit 0
  sleep 1
done
END
  printf %s "$BW_KEY" >"$prefix/document.key.new"
  [ -z "$BW_CA" ] || cp "$tmp/ca.pem" "$prefix/ca.pem.new"
  [ "$(id -u)" != 0 ] || : >"$prefix/places"
  [ -z "$systemd" ] || {
    mkdir -p "$prefix/units"
    write_units "$prefix/units"
  }
  cat >"$prefix/uninstall.new" <<END
#!/bin/sh
# Ends the node and takes it off this machine. --keep-data: its identity, cache and logs stay.
set -eu
if grep -qsxF 'ExecStart=$prefix/run' $unit_folder/breakwater-node.service; then
  [ ! -d /run/systemd/system ] || systemctl disable --now breakwater-node || true
  [ ! -d /run/systemd/system ] || systemctl disable --now breakwater-node-placer.path || true
  rm -f $unit_folder/breakwater-node.service $unit_folder/breakwater-node-placer.path $unit_folder/breakwater-node-placer.service
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
fi
programs=$(realpath -m "$prefix") kept=$(realpath -m "$data") owner=\$(stat -c %u $data 2>/dev/null || true)
# What runs of the node, whoever started it and whatever became of that: its programs, and its nginx, whose workers are known by what they write
# alone, or by whose they are where we may not look. Not what has these names in a container of this machine. \$1: agent, for all but nginx
ours() {
  {
    find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -printf '%h %U %l\\n' 2>/dev/null | while read -r at user exe; do
      case \$exe in
        */nginx | */nginx\\ *) { tr '\\0' ' ' <\$at/cmdline && ls -l \$at/fd; } 2>/dev/null | grep -qF -e "$data/" -e "\$kept/" || continue ;;
        \$programs/*) echo \$at agent && continue ;;
        '') [ \$user != 0 ] && [ \$user = "\$owner" ] && grep -qsx nginx \$at/comm && ! grep -qs '^State:[[:space:]]*Z' \$at/status || continue ;;
        *) continue ;;
      esac
      echo \$at nginx
    done || true
    # no word of this is one of the words it looks for
    grep -lszx -e '$prefix/[r]un' -e '$prefix/[p]lacer' -e '$prefix/.*/agent[.]mjs' /proc/[0-9]*/cmdline | sed 's|/cmdline\$| agent|'
  } | sort -u | while read -r at what; do
    case \$what in
      \${1:-*}) if [ ! -e \$at/root/ ] || [ \$at/root$prefix -ef $prefix ]; then echo \${at#/proc/}; fi ;;
    esac
  done
}
# Ports where somebody listens, each with the number of its socket: TCP, and UDP for HTTP/3
listening() {
  cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null |
    awk '\$4 == "0A" || \$4 == "07" { n = split(\$2, at, ":"); print at[n], \$10 }' |
    while read -r hex socket; do echo \$((0x\$hex)) \$socket; done
}
# before it ends: what it serves itself, and the ports it was given, should it have died
sockets=\$(for pid in \$(ours); do ls -l /proc/\$pid/fd 2>/dev/null || true; done | sed -n 's/.*socket:\[\([0-9]*\)\]\$/\1/p' | sort -u)
served=" $(printf %s "$http,$https" | tr , ' ') \$(listening | while read -r port socket; do
  if printf '%s\n' "\$sockets" | grep -qx "\$socket"; then echo \$port; fi
done | sort -un | tr '\n' ' ')"
# \$1: the signal; whose comes after. Until they have ended: half a minute at most
end() {
  how=\$1
  shift
  [ \$# -gt 0 ] || return 0
  kill -\$how "\$@" 2>/dev/null || true
  for _ in \$(seq 300); do
    alive=''
    # a process that is dead, and has a parent that did not ask, is over
    for pid in "\$@"; do case \$(sed -n 's/^State:[[:space:]]*//p' /proc/\$pid/status 2>/dev/null) in '' | Z*) ;; *) alive=yes ;; esac done
    [ "\$alive" ] || return 0
    sleep 0.1
  done
}
# the agent ends its nginx, gently; what it leaves, or has left since it died, is ended after it
end TERM \$(ours agent)
end TERM \$(ours)
end KILL \$(ours)
# workers whose master is gone
end KILL \$(ours)
left=\$(ours | tr '\\n' ' ')
[ -z "\$left" ] || {
  echo "The node is still on this machine: these processes of it do not end: \$left. Nothing was deleted; end them and run $prefix/uninstall again." >&2
  exit 1
}
[ ! -e $prefix/masked ] || rm -f $unit_folder/nginx.service
[ "\${1:-}" = --keep-data ] || rm -rf $data
[ ! -e $prefix/made-user ] || userdel breakwater-node || echo 'The user breakwater-node stays: the reason stands above.'
rm -rf $prefix
# whoever puts something else here is to know what stands in its way
listening | sort -un -k 1,1 -k 2,2 | while read -r port socket; do
  case "\$served" in *" \$port "*) ;; *) continue ;; esac
  holder=\$(find /proc/[0-9]*/fd -lname "socket:\[\$socket\]" 2>/dev/null | cut -d / -f 3 | head -n 1 || true)
  echo "\$port (\${holder:+\$(basename "\$(readlink /proc/\$holder/exe || cat /proc/\$holder/comm || echo '?')" 2>/dev/null), process }\${holder:-nobody that can be seen from here})"
done | sort -u | while read -r taken; do
  echo "Port \$taken is not free: what listens there is none of this node." >&2
done
echo 'The node is off this machine. Debian packages stay; delete the node in the console.'
END
  chmod 755 "$prefix/run.new" "$prefix/placer.new" "$prefix/uninstall.new"
}

# $1: the folder they are written to
write_units() {
  cat >"$1/breakwater-node.service" <<END
[Unit]
Description=Breakwater edge node
Wants=network-online.target
After=network-online.target
# a node that cannot start for a while comes back when it can
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=$prefix/run
User=breakwater-node
Group=breakwater-node
UMask=0077
LimitNOFILE=1048576
KillMode=process
TimeoutStopSec=60
Restart=always
RestartSec=500ms
AmbientCapabilities=CAP_NET_BIND_SERVICE CAP_NET_ADMIN
CapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_NET_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=$data
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# nginx binds its workers to the cores that the zone lets them use, and is started with fewer rights (setpriv): both are a process's own
SystemCallFilter=sched_setaffinity capset
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
END
  cat >"$1/breakwater-node-placer.service" <<END
[Unit]
Description=Breakwater edge node: places a new version
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=$prefix/placer
# whatever the node's user puts there, it is looked at once in two seconds, and not given up
ExecStartPost=/bin/sleep 2
TimeoutStartSec=600
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_FOWNER
ProtectSystem=strict
ReadWritePaths=$prefix $data
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
RestrictAddressFamilies=AF_UNIX
END
  cat >"$1/breakwater-node-placer.path" <<END
[Unit]
Description=Breakwater edge node: a new version was fetched
StartLimitIntervalSec=0

[Path]
PathExists=$data/upgrade/place

[Install]
WantedBy=multi-user.target
END
}

units='breakwater-node.service breakwater-node-placer.service breakwater-node-placer.path'
# systemd reads nothing of other endings
install_units() {
  for unit in $units; do cp "$1/$unit" "$unit_folder/$unit.new"; done
}
start_units() {
  for unit in $units; do mv "$unit_folder/$unit.new" "$unit_folder/$unit"; done
  systemctl daemon-reload || say 'systemd does not read its units anew: the reason stands above.'
  systemctl start breakwater-node || fail "This machine has joined, and systemd does not start the node: the reason stands above. Start it when that is mended: systemctl enable --now breakwater-node breakwater-node-placer.path"
  stopped=''
  systemctl enable --quiet breakwater-node || say 'The node runs, and will not start with the machine: the reason stands above. When it is mended: systemctl enable breakwater-node'
  systemctl enable --quiet --now breakwater-node-placer.path ||
    say 'The node runs, and cannot be upgraded from the console: the reason stands above. When it is mended: systemctl enable --now breakwater-node-placer.path'
}

# What the machine lets us give away of root's rights: a container may have taken some.
kept_rights() {
  have=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
  rights=-all
  [ $((0x$have >> 10 & 1)) = 0 ] || rights=$rights,+net_bind_service
  [ $((0x$have >> 12 & 1)) = 0 ] || rights=$rights,+net_admin
}

start_plainly() {
  # opened by the node's user: root would follow a link that lies there
  set -- sh -c 'exec "$0" >>"$1" 2>&1' "$prefix/run" "$data/agent.log"
  if [ "$(id -u)" = 0 ]; then
    kept_rights
    set -- --inh-caps="$rights" --ambient-caps="$rights" -- "$@"
    [ $((0x$have >> 8 & 1)) = 0 ] || set -- --bounding-set="$rights" "$@"
    set -- setpriv --reuid=breakwater-node --regid=breakwater-node --clear-groups --no-new-privs "$@"
  fi
  (cd / && umask 027 && exec setsid "$@") >/dev/null 2>&1 </dev/null 9>&- &
  stopped=''
  printf '%s\n' $! >"$prefix/pid"
  [ "$(id -u)" = 0 ] || return 0
  (cd / && exec setsid "$prefix/placer" --wait) >>"$prefix/placer.log" 2>&1 </dev/null 9>&- &
  printf '%s\n' $! >"$prefix/placer.pid"
}

wait_ready() {
  for _ in $(seq 120); do
    if curl -fsS --max-time 3 -o /dev/null "http://127.0.0.1:$health/readyz" 2>/dev/null; then
      say "It serves. To take it off this machine: $prefix/uninstall"
      return 0
    fi
    sleep 0.5
  done
  where="journalctl -u breakwater-node"
  [ "$systemd" ] || where="$data/agent.log"
  fail "It joined and is not ready yet: $(curl -sS --max-time 3 "http://127.0.0.1:$health/readyz" 2>&1 | head -c 500)
More in $where."
}

main() {
  set -eu
  umask 022
  read_options "$@"
  check_machine
  check_alone
  plan
  [ -z "$dry" ] || exit 0
  packing='' stopped='' former='' masked=''
  lock_prefix
  tmp=$(mktemp -d)
  trap tidy EXIT
  trap 'exit 1' INT TERM HUP
  [ -z "$BW_CA" ] || printf '%s\n' "$BW_CA" >"$tmp/ca.pem"
  mask_nginx
  if [ "$missing" ]; then
    (install_packages) &
    packing=$!
  fi
  runtime=$prefix/runtime/$(printf %.12s "$BW_RUNTIME")
  version=$prefix/versions/$BW_VERSION
  # what is there was checked when it came, and nobody but root has changed it
  [ -d "$version" ] || download application "$BW_APPLICATION"
  [ -d "$runtime" ] || download runtime "$BW_RUNTIME"
  if [ "$packing" ]; then
    wait "$packing" || exit 1
    packing=''
  fi
  # a user of a node reads the programs and can change nothing of them
  unpack runtime "$runtime"
  unpack application "$version"
  ln -sfn "../../runtime/${runtime##*/}" "$version/runtime"
  printf %s "$BW_MANIFEST" >"$version/bundle.json"
  printf %s "$BW_SIGNATURE" >"$version/bundle.sig"
  goes_on=''
  [ ! -e "$prefix/current" ] || goes_on=' The node of before goes on as it was.'
  make_user
  check_programs
  join_it
  write_programs
  take_over
  wait_ready
}

main "$@"
