# Runs a server, and ends it with whoever holds the other end of the standard input.
#
#   sh watchdog.sh FOLDER PROGRAM ARGUMENT...
#
# Each line of the input is a signal for the server; STOP and CONT are for its processes as well.
# At the end of the input the server is shut down at once and FOLDER removed. The output ends when
# no process of the server is left.
exec 2>&1
trap '' PIPE
folder=$1
shift

"$@" </dev/null 3<&- &
server=$!

signal_all() {
    kill -s "$1" "$server"
    kill -s "$1" $(cat "/proc/$server/task/$server/children") 2>/dev/null
}

obey() {
    while read -r signal; do
        case $signal in
            STOP) signal_all STOP && echo 'watchdog: paused' ;;
            CONT) signal_all CONT && echo 'watchdog: resumed' ;;
            *) kill -s "$signal" "$server" ;;
        esac
    done
    signal_all CONT
    kill -s QUIT "$server"
}

exec 3<&0
obey <&3 &
obeying=$!
exec 3<&- </dev/null

wait "$server"
kill "$obeying" 2>/dev/null
wait "$obeying" && rm -rf -- "$folder"
