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

# The list of children is whole while their parent is halted: it is halted first and goes on last. A
# child that has just ended is no failure.
children() {
    cat "/proc/$server/task/$server/children"
}

halt() {
    kill -s STOP "$server"
    kill -s STOP $(children) 2>/dev/null
    return 0
}

go_on() {
    kill -s CONT $(children) 2>/dev/null
    kill -s CONT "$server"
}

obey() {
    while read -r signal; do
        case $signal in
            STOP) halt && echo 'watchdog: paused' ;;
            CONT) go_on && echo 'watchdog: resumed' ;;
            *) kill -s "$signal" "$server" ;;
        esac
    done
    go_on
    kill -s QUIT "$server"
}

exec 3<&0
obey <&3 &
obeying=$!
exec 3<&- </dev/null

wait "$server"
kill "$obeying" 2>/dev/null
wait "$obeying" && rm -rf -- "$folder"
